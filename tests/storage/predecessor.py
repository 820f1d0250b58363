"""A database as the predecessor's own SQL makes it: one JSON array of events a session, ids that begin `app:user:`."""

from __future__ import annotations

import json
from typing import Any

import asyncpg

LAYOUT = """
create table public.adk_sessions (
  id text primary key,
  app_name text not null,
  user_id text not null,
  state jsonb default '{}'::jsonb,
  events jsonb default '[]'::jsonb,
  last_update_time bigint,
  expire_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create table public.adk_memory_facts (
  id uuid primary key default gen_random_uuid(),
  user_key text not null,
  fact text not null,
  embedding vector(768),
  tag text,
  fact_date date,
  source text,
  status text not null default 'active',
  keys text[] not null default '{}',
  superseded_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on public.adk_memory_facts using ivfflat (embedding vector_cosine_ops) with (lists = 100);
create index adk_memory_facts_keys_idx on public.adk_memory_facts using gin (keys);
create index adk_memory_facts_date_idx on public.adk_memory_facts (user_key, fact_date);
create function public.match_memory_facts (
  query_embedding vector(768), filter_user_key text, match_count int default 10
) returns table (
  id uuid, user_key text, fact text, tag text, fact_date date, source text, status text, keys text[],
  created_at timestamptz, similarity float
) language plpgsql as $$
begin
  if filter_user_key is null then
    raise exception 'filter_user_key is required';
  end if;
  return query
  select f.id, f.user_key, f.fact, f.tag, f.fact_date, f.source, f.status, f.keys, f.created_at,
         1 - (f.embedding <=> query_embedding)
  from adk_memory_facts f where f.user_key = filter_user_key
  order by f.embedding <=> query_embedding limit match_count;
end;
$$;
"""
START = 1_712_345_678_123  # milliseconds, as the predecessor counts


async def connect(url: str) -> asyncpg.Connection:
    """A connection that finds pgvector wherever the database keeps it."""
    connection = await asyncpg.connect(url)
    await connection.execute("set search_path = public, extensions")
    return connection


async def make(url: str) -> None:
    """The predecessor's tables and function, empty."""
    connection = await connect(url)
    await connection.execute(LAYOUT)
    await connection.close()


def event(number: int, **more: Any) -> dict[str, Any]:
    """The predecessor's event of that number."""
    return {
        "id": f"event-{number}",
        "invocationId": f"turn-{number // 2}",
        "author": "user" if number % 2 == 0 else "Tutor",
        "content": {"role": "user", "parts": [{"text": f'line {number} with é, "quotes" and 1.50'}]},
        "actions": {"stateDelta": {"count": number}, "artifactDelta": {}},
        "timestamp": START + number,
        **more,
    }


async def add_session(
    connection: asyncpg.Connection,
    id: str,
    *,
    app: str = "tutor",
    user: str = "ana",
    events: Any = None,
    state: dict[str, Any] | None = None,
    updated: int | None = START,
) -> None:
    """One session of the predecessor's."""
    await connection.execute(
        "insert into public.adk_sessions (id, app_name, user_id, state, events, last_update_time)"
        " values ($1, $2, $3, $4, $5, $6)",
        id,
        app,
        user,
        json.dumps(state),
        json.dumps(events),
        updated,
    )
