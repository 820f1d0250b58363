-- Sessions, their events as append-only rows, and the state that sessions share.
--
-- A database made by the predecessor's own SQL is taken over here: its one JSON array of events a session becomes rows
-- in the same order, the `app:user:` in front of its session ids goes, and the same id may belong to two users.
-- To go back, run db/roll_back_takeover.sql in one transaction: it rebuilds arrays, ids and primary key, later events
-- included.
--
-- Every function returns one jsonb object, has parameters of its own names (p_*) and no second signature. Own errors:
--   AG001 the session exists   AG002 no such session   AG003 a value that cannot be stored
--   AG010 an extension is missing   AG011 a privilege is missing   AG012 an old row that cannot be taken over
-- db/hardening.sql, which runs after the migrations, takes everything here from PUBLIC, anon and authenticated.

do $$
declare
  v_foreign record;
  v_table   regclass;
begin
  if not has_schema_privilege('public', 'create') then
    raise exception 'role % may not create tables in schema public', current_user
      using errcode = 'AG011', hint = format('GRANT USAGE, CREATE ON SCHEMA public TO %I;', current_user);
  end if;
  select c.relname, pg_get_userbyid(c.relowner) as owner into v_foreign from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and c.relname in ('adk_sessions', 'adk_memory_facts', 'adk_telemetry')
      and not pg_has_role(c.relowner, 'usage')
    limit 1;
  if found then
    raise exception 'table % belongs to role %, not to %', v_foreign.relname, v_foreign.owner, current_user
      using errcode = 'AG011',
            hint = format('ALTER TABLE public.%I OWNER TO %I;', v_foreign.relname, current_user);
  end if;
  -- Forced row-level security without a policy for the owner would hide the rows from what follows.
  for v_table in
    select c.oid::regclass from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relforcerowsecurity
      and c.relname in ('adk_sessions', 'adk_memory_facts', 'adk_telemetry')
      and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'adk_owner')
  loop
    execute format('alter table %s no force row level security', v_table);
  end loop;
end
$$;

create table if not exists public.adk_schema_migrations (
  version    int primary key,
  name       text not null,
  applied_at timestamptz not null default now()
);

create table if not exists public.adk_sessions (
  id               text not null,
  app_name         text not null,
  user_id          text not null,
  state            jsonb not null default '{}',
  last_update_time bigint,
  expire_at        timestamptz,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  constraint adk_sessions_pkey primary key (app_name, user_id, id)
) with (fillfactor = 70);

-- `last_update_time` counts whole milliseconds, as the predecessor has it; `update_time` is the same in seconds, exact.
-- `seq` is the number of events so far, `trimmed_seq` the last one up to which nothing is left to trim.
alter table public.adk_sessions
  add column if not exists key           bigint generated always as identity,
  add column if not exists update_time   double precision,
  add column if not exists seq           bigint not null default 0,
  add column if not exists trimmed_seq   bigint not null default 0,
  add column if not exists taken_over_id text;

create unique index if not exists adk_sessions_key on public.adk_sessions (key);

create table if not exists public.adk_session_events (
  session_key   bigint not null references public.adk_sessions (key) on delete cascade,
  seq           bigint not null,
  event         jsonb not null,
  event_id      text,
  author        text,
  invocation_id text,
  time          double precision not null,
  primary key (session_key, seq)
);

create unique index if not exists adk_session_events_id on public.adk_session_events (session_key, event_id);

create table if not exists public.adk_app_states (
  app_name   text primary key,
  state      jsonb not null default '{}',
  updated_at timestamptz not null default now()
);

create table if not exists public.adk_user_states (
  app_name   text not null,
  user_id    text not null,
  state      jsonb not null default '{}',
  updated_at timestamptz not null default now(),
  primary key (app_name, user_id)
);

-- The takeover. Where the predecessor has not been there is no column `events`, and nothing happens.
do $$
declare
  v_unreadable text;
begin
  if not exists (select from information_schema.columns
                 where table_schema = 'public' and table_name = 'adk_sessions' and column_name = 'events') then
    return;
  end if;
  lock table public.adk_sessions in access exclusive mode;

  select id into v_unreadable from public.adk_sessions s
    where jsonb_typeof(s.events) not in ('array', 'null')
       or (jsonb_typeof(s.events) = 'array' and s.events @? '$[*] ? (@.type() != "object")')
    limit 1;
  if found then
    raise exception 'the events of session % are not an array of objects', v_unreadable
      using errcode = 'AG012', hint = 'Correct or delete this row of public.adk_sessions, then apply again.';
  end if;

  alter table public.adk_sessions drop constraint if exists adk_sessions_pkey;
  alter table public.adk_sessions add constraint adk_sessions_pkey primary key (app_name, user_id, id);
  alter table public.adk_sessions set (fillfactor = 70);

  -- The predecessor counted milliseconds. An event whose id is missing, or was in the array before, goes without one.
  insert into public.adk_session_events (session_key, seq, event, event_id, author, invocation_id, time)
  select key, position,
         case when stamp > 1e11 then event || jsonb_build_object('timestamp', trim_scale(stamp / 1000)) else event end,
         case when row_number() over (partition by key, event ->> 'id' order by position) = 1 then event ->> 'id' end,
         event ->> 'author',
         coalesce(event ->> 'invocationId', event ->> 'invocation_id'),
         coalesce(case when stamp > 1e11 then stamp / 1000 else stamp end, 0)
  from (
    select s.key, e.position, e.event,
           case when jsonb_typeof(e.event -> 'timestamp') = 'number'
                then (e.event ->> 'timestamp')::numeric end as stamp
    from public.adk_sessions s
    cross join lateral jsonb_array_elements(
      case jsonb_typeof(s.events) when 'array' then s.events else '[]' end
    ) with ordinality as e (event, position)
  ) old
  on conflict do nothing;

  update public.adk_sessions s set
    seq = (select count(*) from public.adk_session_events e where e.session_key = s.key),
    update_time = coalesce(
      case when s.last_update_time > 1e11 then s.last_update_time / 1000.0 else s.last_update_time end,
      extract(epoch from s.updated_at));

  insert into public.adk_app_states (app_name, state)
  select app_name, jsonb_object_agg(name, value order by update_time)
  from (select s.app_name, s.update_time, substr(k.name, 5) as name, k.value
        from public.adk_sessions s
        cross join lateral jsonb_each(case jsonb_typeof(s.state) when 'object' then s.state else '{}' end)
          as k (name, value)
        where starts_with(k.name, 'app:')) shared
  group by app_name
  on conflict (app_name) do nothing;

  insert into public.adk_user_states (app_name, user_id, state)
  select app_name, user_id, jsonb_object_agg(name, value order by update_time)
  from (select s.app_name, s.user_id, s.update_time, substr(k.name, 6) as name, k.value
        from public.adk_sessions s
        cross join lateral jsonb_each(case jsonb_typeof(s.state) when 'object' then s.state else '{}' end)
          as k (name, value)
        where starts_with(k.name, 'user:')) shared
  group by app_name, user_id
  on conflict (app_name, user_id) do nothing;

  update public.adk_sessions s set state = coalesce(
    (select jsonb_object_agg(k.name, k.value)
     from jsonb_each(case jsonb_typeof(s.state) when 'object' then s.state else '{}' end) as k (name, value)
     where k.name !~ '^(app|user|temp):'), '{}');

  update public.adk_sessions set taken_over_id = id;
  update public.adk_sessions s set id = stripped.id
  from (select key, substr(id, length(app_name || ':' || user_id || ':') + 1) as id from public.adk_sessions
        where starts_with(id, app_name || ':' || user_id || ':')) stripped
  where s.key = stripped.key and stripped.id <> ''
    and not exists (select from public.adk_sessions o
                    where o.app_name = s.app_name and o.user_id = s.user_id and o.id = stripped.id);

  alter table public.adk_sessions drop column events;
  alter table public.adk_sessions alter column state set not null;
end
$$;

create or replace function public.schema_version() returns jsonb
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select jsonb_build_object('version', coalesce(max(version), 0)) from public.adk_schema_migrations
$$;

create or replace function public.adk_merge_shared_state(
  p_app_name text, p_user_id text, p_app_state jsonb, p_user_state jsonb
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if jsonb_typeof(p_app_state) = 'object' and p_app_state <> '{}' then
    insert into public.adk_app_states as a (app_name, state) values (p_app_name, p_app_state)
    on conflict (app_name) do update set state = a.state || excluded.state, updated_at = now();
  end if;
  if jsonb_typeof(p_user_state) = 'object' and p_user_state <> '{}' then
    insert into public.adk_user_states as u (app_name, user_id, state) values (p_app_name, p_user_id, p_user_state)
    on conflict (app_name, user_id) do update set state = u.state || excluded.state, updated_at = now();
  end if;
end
$$;

-- When a session that is used now expires; null for never.
create or replace function public.adk_expiry(p_ttl_days int) returns timestamptz
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when p_ttl_days > 0 then now() + make_interval(days => p_ttl_days) end
$$;

create or replace function public.create_session(
  p_app_name text, p_user_id text, p_id text, p_state jsonb, p_app_state jsonb, p_user_state jsonb, p_ttl_days int
) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_id  text := coalesce(p_id, gen_random_uuid()::text);
  v_now double precision := extract(epoch from clock_timestamp());
begin
  if p_app_name is null or p_user_id is null then
    raise exception 'a session needs an application and a user' using errcode = 'AG003';
  end if;
  if greatest(octet_length(p_app_name), octet_length(p_user_id), octet_length(v_id)) > 800 then
    raise exception 'the name of an application, a user id and a session id have at most 800 bytes each'
      using errcode = 'AG003';
  end if;
  insert into public.adk_sessions (app_name, user_id, id, state, update_time, last_update_time, expire_at)
  values (p_app_name, p_user_id, v_id, case jsonb_typeof(p_state) when 'object' then p_state else '{}' end,
          v_now, floor(v_now * 1000), public.adk_expiry(p_ttl_days))
  on conflict do nothing;
  if not found then
    raise exception 'session % exists', v_id using errcode = 'AG001';
  end if;
  perform public.adk_merge_shared_state(p_app_name, p_user_id, p_app_state, p_user_state);
  return public.load_session(p_app_name, p_user_id, v_id, 0, null) - 'found' - 'events';
end
$$;

create or replace function public.load_session(
  p_app_name text, p_user_id text, p_id text, p_recent int, p_after double precision
) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_session public.adk_sessions;
  v_events  jsonb;
begin
  select * into v_session from public.adk_sessions
    where app_name = p_app_name and user_id = p_user_id and id = p_id;
  if not found then
    return jsonb_build_object('found', false);
  end if;
  select coalesce(jsonb_agg(e.event order by e.seq), '[]') into v_events
  from (select seq, event from public.adk_session_events
        where session_key = v_session.key and (p_after is null or time >= p_after)
        order by seq desc limit case when p_recent < 0 then 0 else p_recent end) e;
  return jsonb_build_object(
    'found', true,
    'id', v_session.id,
    'state', v_session.state,
    'app_state', coalesce((select state from public.adk_app_states where app_name = p_app_name), '{}'),
    'user_state', coalesce((select state from public.adk_user_states
                            where app_name = p_app_name and user_id = p_user_id), '{}'),
    'last_update_time', v_session.update_time,
    'events', v_events);
end
$$;

-- One event. The session's row is locked first, so events of turns at the same time have one order; an event that is
-- already there changes nothing, so a lost answer may be asked for again.
create or replace function public.append_session_event(
  p_app_name text, p_user_id text, p_id text, p_event jsonb, p_event_id text, p_author text, p_invocation_id text,
  p_time double precision, p_state jsonb, p_app_state jsonb, p_user_state jsonb, p_ttl_days int
) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_key bigint;
  v_seq bigint;
begin
  select key into v_key from public.adk_sessions
    where app_name = p_app_name and user_id = p_user_id and id = p_id for update;
  if not found then
    raise exception 'session % does not exist', p_id using errcode = 'AG002';
  end if;
  if jsonb_typeof(p_event) is distinct from 'object' or p_time is null then
    raise exception 'an event is an object with a time' using errcode = 'AG003';
  end if;
  select seq into v_seq from public.adk_session_events where session_key = v_key and event_id = p_event_id;
  if found then
    return jsonb_build_object('seq', v_seq, 'duplicate', true);
  end if;
  update public.adk_sessions set
    seq = seq + 1,
    state = case when jsonb_typeof(p_state) = 'object' and p_state <> '{}' then state || p_state else state end,
    update_time = p_time,
    last_update_time = floor(p_time * 1000),
    expire_at = case when p_ttl_days > 0 then now() + make_interval(days => p_ttl_days) end,
    updated_at = now()
  where key = v_key
  returning seq into v_seq;
  insert into public.adk_session_events (session_key, seq, event, event_id, author, invocation_id, time)
  values (v_key, v_seq, p_event, p_event_id, p_author, p_invocation_id, p_time);
  if coalesce(p_app_state, '{}') <> '{}' or coalesce(p_user_state, '{}') <> '{}' then
    perform public.adk_merge_shared_state(p_app_name, p_user_id, p_app_state, p_user_state);
  end if;
  return jsonb_build_object('seq', v_seq, 'duplicate', false);
end
$$;

-- The last `p_limit` sessions whose update came before `p_before`, the oldest update first. Null: no such bound.
create or replace function public.list_sessions(
  p_app_name text, p_user_id text, p_limit int, p_before double precision
) returns jsonb
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select jsonb_build_object('sessions', coalesce(jsonb_agg(jsonb_build_object(
    'app_name', s.app_name,
    'user_id', s.user_id,
    'id', s.id,
    'state', s.state,
    'app_state', coalesce(a.state, '{}'),
    'user_state', coalesce(u.state, '{}'),
    'last_update_time', s.update_time,
    'created_at', extract(epoch from s.created_at)::double precision,
    'events', s.seq
  ) order by s.update_time, s.key), '[]'))
  from (select * from public.adk_sessions
        where (p_app_name is null or app_name = p_app_name)
          and (p_user_id is null or user_id = p_user_id)
          and (p_before is null or update_time < p_before)
        order by update_time desc, key desc limit case when p_limit < 0 then 0 else p_limit end) s
  left join public.adk_app_states a on a.app_name = s.app_name
  left join public.adk_user_states u on u.app_name = s.app_name and u.user_id = s.user_id
$$;

create or replace function public.delete_session(p_app_name text, p_user_id text, p_id text) returns jsonb
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with gone as (
    delete from public.adk_sessions where app_name = p_app_name and user_id = p_user_id and id = p_id returning 1
  )
  select jsonb_build_object('deleted', count(*)) from gone
$$;

create or replace function public.user_state(p_app_name text, p_user_id text) returns jsonb
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select jsonb_build_object('state', coalesce(
    (select state from public.adk_user_states where app_name = p_app_name and user_id = p_user_id), '{}'))
$$;

-- One part of an event without its signature, a tool's result of more than 32 KiB as a marker of its size.
create or replace function public.adk_trimmed_part(p_part jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_part jsonb := p_part - '{thought_signature,thoughtSignature}'::text[];
  v_name text;
  v_size bigint;
begin
  foreach v_name in array '{function_response,functionResponse}'::text[] loop
    if jsonb_typeof(v_part -> v_name) = 'object' then
      v_size := coalesce(octet_length((v_part -> v_name -> 'response')::text), 0)
              + coalesce(octet_length((v_part -> v_name -> 'parts')::text), 0);
      if v_size > 32768 then
        v_part := jsonb_set(v_part, array[v_name], (v_part -> v_name) - 'parts'
          || jsonb_build_object('response', jsonb_build_object('omitted_bytes', v_size)));
      end if;
    end if;
  end loop;
  return v_part;
end
$$;

-- An event with trimmed parts; a part that was nothing but a signature goes, one that is no object stays.
create or replace function public.adk_trimmed_event(p_event jsonb) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case when jsonb_typeof(p_event -> 'content' -> 'parts') = 'array' then
    jsonb_set(p_event, '{content,parts}', coalesce(
      (select jsonb_agg(p.trimmed order by p.position)
       from (select e.part, e.position,
                    case jsonb_typeof(e.part) when 'object' then public.adk_trimmed_part(e.part) else e.part end
                      as trimmed
             from jsonb_array_elements(p_event -> 'content' -> 'parts') with ordinality as e (part, position)) p
       where p.trimmed = p.part or p.trimmed not in ('{}', '{"thought": true}')), '[]'))
  else p_event end
$$;

-- Drops signatures and long tool results from all that is stored, save the events of one invocation (null: none).
create or replace function public.trim_session(
  p_app_name text, p_user_id text, p_id text, p_except_invocation text
) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_session public.adk_sessions;
  v_trimmed bigint;
begin
  select * into v_session from public.adk_sessions
    where app_name = p_app_name and user_id = p_user_id and id = p_id for update;
  if not found or v_session.trimmed_seq = v_session.seq then
    return jsonb_build_object('trimmed', 0);
  end if;
  update public.adk_session_events e set event = t.event
  from (select seq, public.adk_trimmed_event(event) as event from public.adk_session_events
        where session_key = v_session.key and seq > v_session.trimmed_seq
          and (p_except_invocation is null or invocation_id is distinct from p_except_invocation)) t
  where e.session_key = v_session.key and e.seq = t.seq and e.event <> t.event;
  get diagnostics v_trimmed = row_count;
  update public.adk_sessions set trimmed_seq = coalesce(
    (select min(seq) - 1 from public.adk_session_events
     where session_key = v_session.key and seq > v_session.trimmed_seq and invocation_id = p_except_invocation),
    v_session.seq)
  where key = v_session.key;
  return jsonb_build_object('trimmed', v_trimmed);
end
$$;

create or replace function public.prune_expired() returns jsonb
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with gone as (delete from public.adk_sessions where expire_at <= now() returning seq)
  select jsonb_build_object('sessions', count(*), 'events', coalesce(sum(seq), 0)) from gone
$$;

insert into public.adk_schema_migrations (version, name) values (1, 'sessions') on conflict do nothing;
