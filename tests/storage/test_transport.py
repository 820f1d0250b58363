"""SQL functions called on a real server, over asyncpg and through supabase-py: the same answers, the same errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest

from syndicate.errors import StorageError
from syndicate.storage.postgres import PostgresTransport
from syndicate.storage.supabase import SupabaseTransport
from syndicate.storage.transport import DatabaseFailure, Transport
from tests.storage.rest_stand_in import RestStandIn, token

ECHO = """
create function echo(p_text text default null, p_number bigint default null, p_value jsonb default null,
  p_at timestamptz default null, p_list text[] default null) returns jsonb language sql as $$
  select jsonb_build_object('text', p_text, 'number', p_number, 'value', p_value, 'at', extract(epoch from p_at),
    'list', to_jsonb(p_list)) $$
"""
RAISE = """
create function refuse(p_code text) returns jsonb language plpgsql as
$$ begin raise 'no: %', p_code using errcode = p_code, hint = 'look again'; end $$
"""


@dataclass
class Way:
    """A way to a database, and its owner's connections, which make the functions."""

    transport: Transport
    owner: PostgresTransport

    async def has(self, sql: str) -> Transport:
        await self.owner.execute(sql)
        return self.transport


@pytest.fixture(params=["postgres", "postgres 16", "supabase"])
def way(request: pytest.FixtureRequest) -> Way:
    if request.param == "supabase":
        return Way(request.getfixturevalue("supabase_transport"), request.getfixturevalue("supabase_owner"))
    direct = request.getfixturevalue("transport")
    return Way(direct, direct)


@pytest.fixture
def major(request: pytest.FixtureRequest) -> int:
    return 16 if "postgres 16" in request.node.name else 18


async def test_arguments_are_converted_by_postgres(way: Way):
    transport = await way.has(ECHO)
    at = "1970-01-01T01:00:00+01:00"
    answer = await transport.call(
        "echo", p_text="é'", p_number="7", p_value={"a": [1, None]}, p_at=at, p_list=["a,", ""]
    )
    assert answer == {"text": "é'", "number": 7, "value": {"a": [1, None]}, "at": 0, "list": ["a,", ""]}


async def test_what_is_left_out_takes_its_default(way: Way):
    transport = await way.has(ECHO)
    assert set((await transport.call("echo")).values()) == {None}


async def test_none_for_a_json_parameter_is_null_and_text_is_a_json_string(way: Way):
    transport = await way.has(ECHO)
    assert (await transport.call("echo", p_value=None))["value"] is None
    assert (await transport.call("echo", p_value='{"a": 1}'))["value"] == '{"a": 1}'


async def test_nul_and_lone_surrogates_inside_json_do_no_harm(way: Way):
    transport = await way.has(ECHO)
    value = {"a\x00": "x\x00y\ud83d", "pair": "\ud83d\ude00", "text": "\\u0000"}
    answer = await transport.call("echo", p_value=value)
    assert answer["value"] == {"a": "xy\ufffd", "pair": "😀", "text": "\\u0000"}


@pytest.mark.parametrize("text", ["a\x00b", "a\ud83d"])
async def test_a_name_that_cannot_be_kept_is_refused(way: Way, text: str):
    with pytest.raises(StorageError, match=r"text .* holds a character") as caught:
        await way.transport.call("echo", p_text=text)
    assert caught.value.code == "bad-value"


@pytest.mark.parametrize("value", [math.nan, {"a": math.inf}, object()])
async def test_a_value_that_is_no_json_is_refused(way: Way, value: Any):
    with pytest.raises(StorageError, match="cannot be kept in a database") as caught:
        await way.transport.call("echo", p_value=value)
    assert caught.value.code == "bad-value"


async def test_a_megabyte_goes_there_and_back(way: Way):
    transport = await way.has(ECHO)
    text = "äöü😀" * 250_000
    assert (await transport.call("echo", p_value={"text": text}))["value"]["text"] == text


@pytest.mark.parametrize(
    ("sqlstate", "code", "retryable"),
    [
        ("AG002", "storage", False),
        ("PT409", "storage", False),
        ("22P02", "bad-value", False),
        ("23505", "conflict", False),
        ("40001", "conflict", True),
        ("42501", "missing-privilege", False),
        ("53100", "disk-full", False),
        ("57014", "timeout", True),
    ],
)
async def test_a_refusal_of_the_server_becomes_one_of_ours(way: Way, sqlstate: str, code: str, retryable: bool):
    transport = await way.has(RAISE)
    with pytest.raises(DatabaseFailure) as caught:
        await transport.call("refuse", p_code=sqlstate)
    found = caught.value
    assert (found.sqlstate, found.message, found.code, found.retryable) == (
        sqlstate,
        f"no: {sqlstate}",
        code,
        retryable,
    )
    assert found.remediation


@pytest.mark.parametrize("arguments", [{}, {"p_x": 1}])
async def test_a_function_that_is_missing_means_not_provisioned(way: Way, arguments: dict[str, int]):
    with pytest.raises(StorageError, match="syndicate db apply") as caught:
        await way.transport.call("nowhere", **arguments)
    assert caught.value.code == "not-provisioned"


async def test_parameters_of_a_function_that_changed_are_read_again(way: Way):
    transport = await way.has(
        "create function f(p_a int) returns jsonb language sql as $$ select '{\"v\": 1}'::jsonb $$"
    )
    assert await transport.call("f", p_a=1) == {"v": 1}
    await way.owner.execute(
        "drop function f; create function f(p_b int) returns jsonb language sql as $$ select '{\"v\": 2}'::jsonb $$"
    )
    assert await transport.call("f", p_b=1) == {"v": 2}


async def test_many_calls_at_once_are_all_answered(way: Way):
    import asyncio

    transport = await way.has(ECHO)
    answers = await asyncio.gather(*(transport.call("echo", p_number=number) for number in range(60)))
    assert [answer["number"] for answer in answers] == list(range(60))


async def test_a_function_that_returns_no_object_is_an_error(way: Way):
    transport = await way.has("create function seven() returns jsonb language sql as $$ select '7'::jsonb $$")
    with pytest.raises(StorageError, match="no object of JSON"):
        await transport.call("seven")


async def test_a_script_over_rest_is_refused_with_the_way_out(supabase_transport: SupabaseTransport):
    with pytest.raises(StorageError, match="syndicate db print"):
        await supabase_transport.execute("select 1")


@pytest.mark.parametrize("role", ["anon", "authenticated"])
async def test_a_key_of_a_role_without_privileges_is_refused(
    stand_in: RestStandIn, supabase_owner: PostgresTransport, role: str
):
    await supabase_owner.execute(ECHO + "; revoke execute on function echo from public, anon, authenticated")
    transport = await SupabaseTransport.open(stand_in.url, token(role))
    with pytest.raises(StorageError, match="permission denied for function echo") as caught:
        await transport.call("echo")
    await transport.aclose()
    assert caught.value.code == "missing-privilege"


@pytest.mark.parametrize(
    "key",
    [token("service_role", secret=b"another"), token("service_role", seconds=-1)],
    ids=["another project's", "expired"],
)
async def test_a_key_of_another_project_or_an_expired_one_says_so(stand_in: RestStandIn, key: str):
    transport = await SupabaseTransport.open(stand_in.url, key)
    with pytest.raises(StorageError, match="correct SUPABASE_SERVICE_ROLE_KEY") as caught:
        await transport.call("echo")
    await transport.aclose()
    assert key not in str(caught.value)


@pytest.mark.parametrize("fault", ["lost", "page"])
async def test_a_lost_answer_is_asked_for_again(
    stand_in: RestStandIn, supabase_owner: PostgresTransport, supabase_transport: SupabaseTransport, fault: str
):
    await supabase_owner.execute(ECHO)
    stand_in.breaks = [fault]
    assert (await supabase_transport.call("echo", p_number=3))["number"] == 3
    assert stand_in.requests == ["echo", "echo"]


async def test_a_lost_answer_of_what_must_not_be_done_twice_is_an_error(
    stand_in: RestStandIn, supabase_transport: SupabaseTransport
):
    stand_in.breaks = ["lost"]
    with pytest.raises(StorageError, match="cannot be reached") as caught:
        await supabase_transport.call("create_session")
    assert stand_in.requests == ["create_session"]
    assert (caught.value.code, caught.value.retryable) == ("connection", True)


@pytest.mark.parametrize("url", ["nonsense", "ftp://x", "https://", "https://u:secret@x.example", "http://x:99999"])
async def test_an_address_that_is_no_project_is_refused(url: str):
    with pytest.raises(StorageError, match="SUPABASE_URL") as caught:
        await SupabaseTransport.open(url, token("service_role"))
    assert caught.value.code == "wrong-url"
    assert "secret" not in str(caught.value)


async def test_a_project_that_is_not_there_cannot_be_reached():
    transport = await SupabaseTransport.open("http://127.0.0.1:9", token("service_role"))
    with pytest.raises(StorageError, match="cannot be reached") as caught:
        await transport.call("create_session")
    await transport.aclose()
    assert caught.value.code == "connection"
