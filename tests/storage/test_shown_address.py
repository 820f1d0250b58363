import pytest

from syndicate.storage.postgres import shown


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret@host/db",
        "postgresql://me:s3cret?pw@host/db",
        "postgresql://me:s3cret#pw@host:5432/db",
        "postgresql://me:s3cret",
        "postgresql://me:s3cret?x=1",
        "me:s3cret@host/db",
    ],
)
def test_no_part_of_a_password_is_shown(url: str) -> None:
    assert "s3cret" not in shown(url)


def test_an_address_without_one_is_shown_without_its_parameters() -> None:
    assert shown("postgresql://host:5432/db?sslmode=require") == "postgresql://host:5432/db"
