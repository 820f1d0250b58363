"""A process that uses an embedded database until its standard input is closed: `HOME`. It prints what it found."""

from __future__ import annotations

import asyncio
import json
import sys

from syndicate.errors import SyndicateError
from syndicate.settings import Settings
from syndicate.storage import embedded
from syndicate.storage.postgres import PostgresTransport


async def _ask(url: str) -> str:
    transport = await PostgresTransport.open(url)
    try:
        return (await transport.fetch("select current_user::text as name"))[0]["name"]
    finally:
        await transport.aclose()


def main(home: str) -> None:
    """One line of JSON: `role`, `pid` and `folder`; or `error` and `code`."""
    settings = Settings.read({"syndicate_home": home}, env_file=None)
    try:
        found = {"role": asyncio.run(_ask(embedded.ensure(settings)))}
        status = embedded.status(settings)
        found |= {"pid": status.pid, "folder": str(status.folder)}
    except SyndicateError as error:
        found = {"error": str(error), "code": error.code}
    print(json.dumps(found), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
