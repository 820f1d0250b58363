-- What `db status`, `db purge` and `db verify` ask.
--
-- Ours are the tables, views and sequences of schema public that are called adk_* or a2a_*, and the functions that are
-- called adk_* or speak of such a table. db/hardening.sql has the same rule.

create or replace function public.storage_status() returns jsonb
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select jsonb_build_object(
    'version', (select max(version) from public.adk_schema_migrations),
    'sessions', s.sessions,
    'events', s.events,
    'expired', s.expired,
    'facts', (select count(*) from public.adk_memory_facts),
    'spans', (select count(*) from public.adk_telemetry),
    'bytes', (select sum(pg_total_relation_size(oid)) from pg_class
              where relnamespace = 'public'::regnamespace and relkind = 'r' and relname ~ '^(adk|a2a)_'))
  from (select count(*) as sessions, coalesce(sum(seq), 0) as events,
               count(*) filter (where expire_at <= now()) as expired from public.adk_sessions) s
$$;

-- Deletes what is stored of an application, of a user, or of a user of an application; null and null: everything.
-- Rows are locked in the order in which an append locks them.
create or replace function public.purge(p_app_name text, p_user_id text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_counts jsonb;
  v_rows   bigint;
begin
  with gone as (
    delete from public.adk_sessions
    where (p_app_name is null or app_name = p_app_name) and (p_user_id is null or user_id = p_user_id)
    returning seq
  )
  select jsonb_build_object('sessions', count(*), 'events', coalesce(sum(seq), 0)) into v_counts from gone;

  delete from public.adk_app_states where p_user_id is null and (p_app_name is null or app_name = p_app_name);
  get diagnostics v_rows = row_count;
  v_counts := v_counts || jsonb_build_object('app_states', v_rows);

  delete from public.adk_user_states
    where (p_app_name is null or app_name = p_app_name) and (p_user_id is null or user_id = p_user_id);
  get diagnostics v_rows = row_count;
  v_counts := v_counts || jsonb_build_object('user_states', v_rows);

  delete from public.adk_memory_facts
    where (p_app_name is null or substring(user_key from '^(.*)/[^/]*$') = p_app_name)
      and (p_user_id is null or substring(user_key from '/([^/]*)$') = p_user_id);
  get diagnostics v_rows = row_count;
  v_counts := v_counts || jsonb_build_object('facts', v_rows);

  delete from public.adk_telemetry where p_user_id is null and (p_app_name is null or syndicate = p_app_name);
  get diagnostics v_rows = row_count;
  return v_counts || jsonb_build_object('spans', v_rows);
end
$$;

-- Every object of ours, and what a role without rights could try on it without doing anything: EXPLAIN checks rights.
create or replace function public.adk_objects() returns table (
  kind text, object oid, name text, owner oid, attempts text[]
)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when c.relkind in ('r', 'p') then 'table' else 'view' end, c.oid, c.oid::regclass::text, c.relowner,
         array['explain select from ' || c.oid::regclass, 'explain delete from ' || c.oid::regclass,
               'explain insert into ' || c.oid::regclass || ' default values',
               format('explain update %s set %I = default', c.oid::regclass,
                      (select attname from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped
                       order by attnum limit 1))]
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
    and c.relname ~ '^(adk|a2a)_'
  union all
  select 'sequence', c.oid, c.oid::regclass::text, c.relowner, array[format('select nextval(%L)', c.oid::regclass)]
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'S' and c.relname ~ '^(adk|a2a)_'
  union all
  select 'function', p.oid, p.oid::regprocedure::text, p.proowner,
         case when p.prokind = 'f' and p.prorettype <> 'trigger'::regtype then
           array[format('explain select %I.%I(%s)', 'public', p.proname,
             (select string_agg('null::' || format_type(t.type, null), ', ' order by t.position)
              from unnest(p.proargtypes::oid[]) with ordinality as t (type, position)))]
         else '{}' end
  from pg_proc p
  where p.pronamespace = 'public'::regnamespace and (p.proname ~ '^adk_' or p.prosrc ~ '\m(adk|a2a)_')
    and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid
                      and d.deptype = 'e')
$$;

-- What is open although it should not be, from the catalogue: {object, problem, remedy} each.
create or replace function public.adk_openings() returns jsonb
language sql stable set search_path = pg_catalog, pg_temp as $$
  with stranger (role) as (
    select 'public' union all select rolname::text from pg_roles where rolname in ('anon', 'authenticated')
  ), owner (oid, name) as (
    select oid, rolname::text from pg_roles
    where oid = (select relowner from pg_class where oid = 'public.adk_schema_migrations'::regclass)
  ), opening (object, problem, remedy) as (
    select o.name, 'row-level security is not enabled and forced',
           format('ALTER TABLE %1$s ENABLE ROW LEVEL SECURITY; ALTER TABLE %1$s FORCE ROW LEVEL SECURITY;', o.name)
    from public.adk_objects() o join pg_class c on c.oid = o.object
    where o.kind = 'table' and not (c.relrowsecurity and c.relforcerowsecurity)
    union all
    select o.name, 'its policies are others than the one for its owner',
           concat((select string_agg(format('DROP POLICY %I ON %s; ', polname, o.name), '' order by polname)
                   from pg_policy where polrelid = o.object),
                  format('CREATE POLICY adk_owner ON %s FOR ALL TO %s USING (true) WITH CHECK (true);',
                         o.name, o.owner::regrole))
    from public.adk_objects() o
    where o.kind = 'table' and (
      select count(*) <> 1 or not bool_and(polcmd = '*' and polpermissive and polroles = array[o.owner])
      from pg_policy where polrelid = o.object)
    union all
    select o.name, s.role || ' has a privilege on it', format('REVOKE ALL ON TABLE %s FROM %s;', o.name, s.role)
    from public.adk_objects() o cross join stranger s
    where o.kind in ('table', 'view') and (
      has_table_privilege(s.role, o.object, 'select,insert,update,delete,truncate,references,trigger')
      or has_any_column_privilege(s.role, o.object, 'select,insert,update,references'))
    union all
    select o.name, s.role || ' has a privilege on it', format('REVOKE ALL ON SEQUENCE %s FROM %s;', o.name, s.role)
    from public.adk_objects() o cross join stranger s
    where o.kind = 'sequence' and has_sequence_privilege(s.role, o.object, 'usage,select,update')
    union all
    select o.name, s.role || ' may execute it', format('REVOKE ALL ON ROUTINE %s FROM %s;', o.name, s.role)
    from public.adk_objects() o cross join stranger s
    where o.kind = 'function' and has_function_privilege(s.role, o.object, 'execute')
    union all
    select o.name, 'its search_path is not pinned with pg_temp at the end',
           format('ALTER ROUTINE %s SET search_path = pg_catalog, public, pg_temp;', o.name)
    from public.adk_objects() o join pg_proc p on p.oid = o.object
    where o.kind = 'function' and not exists (
      select from unnest(p.proconfig) c (setting) where c.setting ~ '^search_path=(.*, *)?"?pg_temp"?$')
    union all
    select 'functions that ' || r.name || ' will make', 'everybody may execute them',
           format('ALTER DEFAULT PRIVILEGES FOR ROLE %I REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;', r.name)
    from owner r
    where not exists (
      select from pg_default_acl d where d.defaclrole = r.oid and d.defaclnamespace = 0 and d.defaclobjtype = 'f'
        and not exists (select from aclexplode(d.defaclacl) a where a.grantee = 0))
    union all
    select distinct k.name || ' that ' || r.name || ' will make', g.name || ' gets privileges on them',
           format('ALTER DEFAULT PRIVILEGES FOR ROLE %I %sREVOKE ALL ON %s FROM %s;', r.name,
                  case d.defaclnamespace when 0 then '' else 'IN SCHEMA public ' end, upper(k.name), g.name)
    from owner r
    join pg_default_acl d on d.defaclrole = r.oid and d.defaclnamespace in (0, 'public'::regnamespace)
    join (values ('r', 'tables'), ('S', 'sequences'), ('f', 'functions')) k (type, name)
      on k.type = d.defaclobjtype::text
    cross join lateral aclexplode(d.defaclacl) a
    join (select 0::oid, 'public' union all
          select oid, rolname::text from pg_roles where rolname in ('anon', 'authenticated')) g (oid, name)
      on g.oid = a.grantee
  )
  select coalesce(
    jsonb_agg(jsonb_build_object('object', object, 'problem', problem, 'remedy', remedy) order by object, problem),
    '[]')
  from opening
$$;

-- The catalogue's openings, and those found by trying as anon and authenticated. It runs as its caller, who alone may
-- assume those roles; nothing it tries has an effect.
create or replace function public.verify_storage() returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_findings jsonb := public.adk_openings();
  v_untried  jsonb := '[]';
  v_tried    jsonb := '{}';
  v_attempts jsonb;
  v_attempt  record;
  v_role     text;
  v_count    int;
begin
  select coalesce(jsonb_agg(jsonb_build_object(
      'object', replace(o.kind, 'view', 'table') || ' ' || o.name, 'statement', s.statement)), '[]') into v_attempts
    from public.adk_objects() o cross join lateral unnest(o.attempts) s (statement);
  foreach v_role in array array['anon', 'authenticated'] loop
    if to_regrole(v_role) is null then
      v_untried := v_untried || to_jsonb(format(
        'role %s does not exist here; what everybody may do was read from the catalogue', v_role));
      continue;
    end if;
    v_count := 0;
    begin
      perform set_config('role', v_role, true);
      for v_attempt in select a ->> 'object' as object, a ->> 'statement' as statement
                       from jsonb_array_elements(v_attempts) a loop
        begin
          execute v_attempt.statement;
          v_findings := v_findings || jsonb_build_object(
            'object', v_attempt.object, 'problem', format('as %s this works: %s', v_role, v_attempt.statement),
            'remedy', format('REVOKE ALL ON %s FROM %s;', v_attempt.object, v_role));
        exception
          when insufficient_privilege then v_count := v_count + 1;
          when others then
            v_untried := v_untried || to_jsonb(format('as %s, %s: %s', v_role, v_attempt.statement, sqlerrm));
        end;
      end loop;
      raise exception 'tried' using errcode = 'AG099';
    exception
      when sqlstate 'AG099' then v_tried := v_tried || jsonb_build_object(v_role, v_count);
      when insufficient_privilege or invalid_parameter_value then
        v_untried := v_untried || to_jsonb(format(
          'role %s may not be assumed by %s: %s', v_role, session_user, sqlerrm));
    end;
  end loop;
  return jsonb_build_object('findings', v_findings, 'untried', v_untried, 'refused', v_tried);
end
$$;

insert into public.adk_schema_migrations (version, name) values (4, 'upkeep') on conflict do nothing;
