"""SQL functions called over asyncpg, on a real server."""

from __future__ import annotations

import pytest

from syndicate.errors import StorageError
from syndicate.storage.postgres import PostgresTransport
from syndicate.storage.transport import DatabaseFailure

ECHO = """
create function echo(p_text text default null, p_number bigint default null, p_value jsonb default null,
  p_at timestamptz default null, p_list text[] default null) returns jsonb language sql as $$
  select jsonb_build_object('text', p_text, 'number', p_number, 'value', p_value, 'at', extract(epoch from p_at),
    'list', to_jsonb(p_list)) $$
"""


@pytest.mark.parametrize("major", [18, 16])
async def test_arguments_are_converted_by_postgres(transport: PostgresTransport):
    await transport.execute(ECHO)
    answer = await transport.call(
        "echo",
        p_text="é\n'\"",
        p_number="7",
        p_value={"a": [1, None]},
        p_at="1970-01-01T01:00:00+01:00",
        p_list=["a,b", ""],
    )
    assert answer == {"text": "é\n'\"", "number": 7, "value": {"a": [1, None]}, "at": 0, "list": ["a,b", ""]}


async def test_what_is_left_out_takes_its_default(transport: PostgresTransport):
    await transport.execute(ECHO)
    assert await transport.call("echo") == {"text": None, "number": None, "value": None, "at": None, "list": None}


async def test_text_for_a_json_parameter_is_a_json_string(transport: PostgresTransport):
    await transport.execute(ECHO)
    assert (await transport.call("echo", p_value='{"a": 1}'))["value"] == '{"a": 1}'


async def test_nul_and_lone_surrogates_inside_json_do_no_harm(transport: PostgresTransport):
    await transport.execute(ECHO)
    answer = await transport.call("echo", p_value={"a\x00": "x\x00y\ud83d", "pair": "\ud83d\ude00", "text": "\\u0000"})
    assert answer["value"] == {"a": "xy\ufffd", "pair": "😀", "text": "\\u0000"}


@pytest.mark.parametrize("text", ["a\x00b", "a\ud83d"])
async def test_a_name_that_cannot_be_kept_is_refused(transport: PostgresTransport, text: str):
    with pytest.raises(StorageError, match=r"text .* holds a character") as caught:
        await transport.call("echo", p_text=text)
    assert caught.value.code == "bad-value"


async def test_an_own_code_keeps_its_message_and_its_hint(transport: PostgresTransport):
    await transport.execute(
        "create function no(p_x text) returns jsonb language plpgsql as "
        "$$ begin raise 'gone: %', p_x using errcode = 'AG002', hint = 'look again'; end $$"
    )
    with pytest.raises(DatabaseFailure) as caught:
        await transport.call("no", p_x="it")
    assert (caught.value.sqlstate, str(caught.value)) == ("AG002", "gone: it; look again")


@pytest.mark.parametrize("arguments", [{}, {"p_x": 1}])
async def test_a_function_that_is_missing_means_not_provisioned(
    transport: PostgresTransport, arguments: dict[str, int]
):
    with pytest.raises(StorageError, match="syndicate db apply") as caught:
        await transport.call("nowhere", **arguments)
    assert caught.value.code == "not-provisioned"
