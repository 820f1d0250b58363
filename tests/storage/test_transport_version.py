import pytest

from syndicate.errors import StorageError
from syndicate.storage import postgres


async def test_an_old_postgres_is_refused_with_its_version(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "OLDEST_MAJOR", 99)
    with pytest.raises(StorageError, match=r"is Postgres \d\d; use Postgres 99 or newer") as caught:
        await postgres.PostgresTransport.open(database_url)
    assert caught.value.code == "schema-too-old"
