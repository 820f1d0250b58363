-- Gives a database that `syndicate db apply` took over back to the predecessor's program, which keeps the events of a
-- session in one JSON array. Nothing of a session is lost: events, sessions and state of later go back too.
--
--   psql "$DATABASE_URL" -v ON_ERROR_STOP=1 --single-transaction -f db/roll_back_takeover.sql
--
-- Stop every program that uses the database first. What stays: the columns that facts have gained, which do no harm;
-- user keys that were mapped (map them back before: `syndicate db apply --map NEW=OLD`); the hardening. What the
-- predecessor had and is not made anew: its ivfflat index. `syndicate db apply` takes the database over again.

do $$
declare
  v_function text;
begin
  perform pg_advisory_xact_lock(82071204);
  alter table public.adk_sessions add column events jsonb default '[]';

  -- The predecessor counts milliseconds where its last update did.
  update public.adk_sessions s set
    events = coalesce(
      (select jsonb_agg(
         case when s.last_update_time > 1e11 and jsonb_typeof(e.event -> 'timestamp') = 'number'
                and (e.event ->> 'timestamp')::numeric < 1e11
              then e.event || jsonb_build_object('timestamp', trim_scale((e.event ->> 'timestamp')::numeric * 1000))
              else e.event end
         order by e.seq)
       from public.adk_session_events e where e.session_key = s.key), '[]'),
    state = s.state
      || coalesce((select jsonb_object_agg('app:' || k.name, k.value) from public.adk_app_states a
                   cross join lateral jsonb_each(a.state) as k (name, value)
                   where a.app_name = s.app_name), '{}')
      || coalesce((select jsonb_object_agg('user:' || k.name, k.value) from public.adk_user_states u
                   cross join lateral jsonb_each(u.state) as k (name, value)
                   where u.app_name = s.app_name and u.user_id = s.user_id), '{}'),
    id = coalesce(s.taken_over_id, s.app_name || ':' || s.user_id || ':' || s.id);

  drop table public.adk_session_events;
  drop index public.adk_sessions_key;
  alter table public.adk_sessions
    drop constraint adk_sessions_pkey,
    drop column key,
    drop column update_time,
    drop column seq,
    drop column trimmed_seq,
    drop column taken_over_id;
  alter table public.adk_sessions add constraint adk_sessions_pkey primary key (id);

  for v_function in
    select p.oid::regprocedure::text from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proname <> 'match_memory_facts'
      and pg_has_role(p.proowner, 'usage') and (p.proname ~ '^adk_' or p.prosrc ~ '\m(adk|a2a)_')
  loop
    execute 'drop function ' || v_function;
  end loop;
  drop table public.adk_app_states, public.adk_user_states, public.adk_schema_migrations;
end
$$;
