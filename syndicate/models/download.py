"""Fetch one large file over HTTP: resumed where it stopped, checked by its SHA-256, moved into place whole."""

from __future__ import annotations

import hashlib
import re
import shutil
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

if TYPE_CHECKING:
    import httpx

Progress = Callable[[int, int | None], None]
"""Called with the bytes that are there and those there will be, None when unknown; what it raises ends the download."""

_ATTEMPTS = 5


class DownloadError(Exception):
    """A file that could not be had; the text says why, without a remedy."""


def partial_path(target: Path) -> Path:
    """Where the bytes of an unfinished download are kept."""
    return target.with_name(target.name + ".part")


def sha256_of(path: Path) -> str:
    """Hexadecimal SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def download(
    url: str,
    target: Path,
    *,
    sha256: str | None = None,
    headers: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Path:
    """Fetch `url` (http, https or file) into `target` and return it. Raises `DownloadError`.

    Not guarded against another process doing the same: hold a lock around it.
    """
    part = partial_path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    if urlsplit(url).scheme == "file":
        shutil.copyfile(url2pathname(urlsplit(url).path), part)
    else:
        _fetch(url, part, dict(headers or {}), progress or _silent)
    if sha256 is not None and sha256_of(part) != sha256:
        part.unlink()
        raise DownloadError(f"{target.name} arrived with the wrong SHA-256")
    return part.replace(target)


def _silent(_done: int, _total: int | None) -> None:
    pass


def _fetch(url: str, part: Path, headers: dict[str, str], progress: Progress) -> None:
    """Ask again from where the connection dropped, as long as each attempt brings something."""
    import httpx

    timeout = httpx.Timeout(30, connect=10)
    with httpx.Client(follow_redirects=True, timeout=timeout, verify=_trust(), headers=headers) as client:
        for attempt in range(_ATTEMPTS):
            try:
                if _append(client, url, part, progress):
                    return
            except httpx.HTTPStatusError as error:
                raise DownloadError(f"{urlsplit(url).hostname} answered {error.response.status_code}") from error
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                if attempt == _ATTEMPTS - 1 or isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
                    raise DownloadError(f"{urlsplit(url).hostname}: {error or type(error).__name__}") from error
    raise DownloadError(f"{urlsplit(url).hostname} kept sending less than it announced")


def _append(client: httpx.Client, url: str, part: Path, progress: Progress) -> bool:
    """Add to `part` what the server still has of the file; whether it is complete now."""
    have = part.stat().st_size if part.exists() else 0
    ranged = {"Range": f"bytes={have}-"} if have else {}
    with client.stream("GET", url, headers={"Accept-Encoding": "identity", **ranged}) as response:
        if response.status_code == 416:
            return _complete_or_void(part, have, response.headers.get("content-range", ""))
        response.raise_for_status()
        if response.status_code != 206:
            have = 0
        length = response.headers.get("content-length")
        total = have + int(length) if length else None
        with part.open("ab" if have else "wb") as file:
            for chunk in response.iter_raw():
                file.write(chunk)
                have += len(chunk)
                progress(have, total)
    return total is None or have >= total


def _complete_or_void(part: Path, have: int, content_range: str) -> bool:
    """A server with nothing past `have` bytes: the file is complete, or what is there belongs to another one."""
    match = re.fullmatch(r"bytes \*/(\d+)", content_range)
    if match and int(match[1]) == have:
        return True
    part.unlink()
    return False


def _trust() -> ssl.SSLContext:
    """The machine's certificates and certifi's: company proxies are in the first, some Pythons have only the second."""
    import certifi

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
