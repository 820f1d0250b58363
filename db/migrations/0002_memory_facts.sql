-- Facts of long-term memory, each with its embedding. The predecessor's columns and match_memory_facts keep their
-- names and meaning. Its ivfflat and hnsw indexes go: filtered by user they lose most neighbours, an exact search of
-- one user's facts does not.

-- Where pgvector is: Supabase keeps extensions in a schema of their own.
do $$
declare
  v_schema  text;
  v_version text;
begin
  if not exists (select from pg_extension where extname = 'vector') then
    begin
      if to_regnamespace('extensions') is not null then
        create extension vector schema extensions;
      else
        create extension vector schema public;
      end if;
    exception when others then
      raise exception 'this database has no extension vector (pgvector), and it could not be made: %', sqlerrm
        using errcode = 'AG010', hint = 'CREATE EXTENSION vector;';
    end;
  end if;
  select n.nspname, e.extversion into v_schema, v_version
    from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector';
  if string_to_array(v_version, '.')::int[] < array[0, 7] then
    raise exception 'pgvector is version %, and half vectors need 0.7', v_version
      using errcode = 'AG010', hint = 'ALTER EXTENSION vector UPDATE;';
  end if;
  perform set_config('search_path', format('pg_catalog, %I', v_schema), true);
end
$$;

create table if not exists public.adk_memory_facts (
  id            uuid primary key default gen_random_uuid(),
  user_key      text not null,
  fact          text not null,
  embedding     vector(768),
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now()
);

-- `embedding_half` is what is searched; `session_id`, `event_seq` and `extracted_at` say where a fact is from.
alter table public.adk_memory_facts
  add column if not exists tag             text,
  add column if not exists fact_date       date,
  add column if not exists source          text,
  add column if not exists status          text not null default 'active',
  add column if not exists keys            text[] not null default '{}',
  add column if not exists superseded_by   uuid,
  add column if not exists created_at      timestamptz not null default now(),
  add column if not exists updated_at      timestamptz not null default now(),
  add column if not exists embedding_half  halfvec(768),
  add column if not exists embedding_model text,
  add column if not exists tsv             tsvector,
  add column if not exists length          int,
  add column if not exists norm_hash       text,
  add column if not exists session_id      text,
  add column if not exists event_seq       bigint,
  add column if not exists extracted_at    timestamptz;

-- In the row itself: a search reads them all, and out of line each would cost a look-up.
alter table public.adk_memory_facts alter column embedding_half set storage plain;

do $$
declare
  v_name text;
begin
  for v_name in
    select i.indexrelid::regclass::text from pg_index i
      join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
      where i.indrelid = 'public.adk_memory_facts'::regclass and a.amname in ('ivfflat', 'hnsw')
        and i.indpred is null
  loop
    execute 'drop index ' || v_name;
  end loop;
end
$$;

create index if not exists adk_memory_facts_keys_idx on public.adk_memory_facts using gin (keys);
create index if not exists adk_memory_facts_date_idx on public.adk_memory_facts (user_key, fact_date);

-- What the predecessor embedded, it embedded with this model.
update public.adk_memory_facts
  set embedding_half = embedding::halfvec(768), embedding_model = coalesce(embedding_model, 'gemini-embedding-001')
  where embedding is not null and embedding_half is null;

-- Kept for the predecessor's callers; this program calls functions of its own.
do $$
declare
  v_old text;
begin
  for v_old in select oid::regprocedure::text from pg_proc
               where pronamespace = 'public'::regnamespace and proname = 'match_memory_facts'
  loop
    execute 'drop function ' || v_old;
  end loop;
end
$$;

create function public.match_memory_facts(
  query_embedding vector(768), filter_user_key text, match_count int default 10
) returns table (
  id uuid, user_key text, fact text, tag text, fact_date date, source text, status text, keys text[],
  created_at timestamptz, similarity float
)
language plpgsql security definer set search_path from current as $$
begin
  if filter_user_key is null then
    raise exception 'filter_user_key is required';
  end if;
  return query
  select f.id, f.user_key, f.fact, f.tag, f.fact_date, f.source, f.status, f.keys, f.created_at,
         1 - (f.embedding <=> query_embedding) as similarity
  from public.adk_memory_facts f
  where f.user_key = filter_user_key
  order by f.embedding <=> query_embedding
  limit match_count;
end
$$;

do $$
begin
  execute format('alter function public.match_memory_facts set search_path = pg_catalog, %I, pg_temp',
    (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'));
end
$$;

-- Facts under the predecessor's keys go to ours, `namespace/user`: all pairs at once, so keys may also be swapped.
create or replace function public.map_user_keys(p_map jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_bad    text;
  v_mapped jsonb;
begin
  select value into v_bad from jsonb_each_text(p_map) where value is null or value !~ '^.+/[^/]+$' limit 1;
  if found then
    raise exception 'user key % is not a namespace and a user with a slash between them', coalesce(v_bad, 'null')
      using errcode = 'AG003';
  end if;
  with moved as (
    update public.adk_memory_facts f set user_key = m.value, updated_at = now()
    from jsonb_each_text(p_map) m where f.user_key = m.key
    returning m.key
  )
  select jsonb_object_agg(old.key, (select count(*) from moved where moved.key = old.key)) into v_mapped
  from jsonb_object_keys(p_map) old (key);
  return jsonb_build_object('mapped', coalesce(v_mapped, '{}'));
end
$$;

insert into public.adk_schema_migrations (version, name) values (2, 'memory_facts') on conflict do nothing;
