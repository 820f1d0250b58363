-- The second tier: one role that reads the rows of one user, whose key is in the setting app.user_key. It exists where
-- db/user_tier.sql was run; here is its record, and the one place that says what it may see.

create table if not exists public.adk_user_tier (
  id   int primary key default 1 check (id = 1),
  role text not null
);

create or replace function public.adk_user_role() returns text
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select role from public.adk_user_tier
$$;

-- The tables of the tier and the condition of each one's policy, written as Postgres gives a condition back. A user key
-- is cut at its last slash, as purge does: 'a/b/c' is user c of a/b, and nobody else. No key: null, and so no row.
create or replace function public.adk_user_conditions() returns table (object oid, condition text)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select to_regclass(v.name)::oid, v.condition from (values
    ('public.adk_memory_facts',
     $c$(user_key = NULLIF(current_setting('app.user_key'::text, true), ''::text))$c$),
    ('public.adk_sessions',
     $c$((app_name = "substring"(current_setting('app.user_key'::text, true), '^(.+)/[^/]+$'::text))$c$
     || $c$ AND (user_id = "substring"(current_setting('app.user_key'::text, true), '/([^/]+)$'::text)))$c$),
    ('public.adk_session_events',
     $c$(session_key IN ( SELECT s.key FROM public.adk_sessions s WHERE $c$
     || $c$((s.app_name = "substring"(current_setting('app.user_key'::text, true), '^(.+)/[^/]+$'::text))$c$
     || $c$ AND (s.user_id = "substring"(current_setting('app.user_key'::text, true), '/([^/]+)$'::text)))))$c$)
  ) v (name, condition)
$$;

-- The policies that are exactly the tier's: for its role alone, to read, under that condition.
create or replace function public.adk_user_policies() returns table (policy oid, object oid)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select p.oid, p.polrelid
  from public.adk_user_conditions() c
  join pg_policy p on p.polrelid = c.object
  join pg_roles r on r.rolname = public.adk_user_role() and p.polroles = array[r.oid]
  where p.polname = 'adk_user' and p.polcmd = 'r' and p.polpermissive and p.polwithcheck is null
    and regexp_replace(pg_get_expr(p.polqual, p.polrelid), '\s+', ' ', 'g') = c.condition
$$;

-- What is open although it should not be, from the catalogue: {object, problem, remedy} each.
create or replace function public.adk_openings() returns jsonb
language sql stable set search_path = pg_catalog, pg_temp as $$
  with tier (oid, role) as (
    select oid, rolname::text from pg_roles where rolname = public.adk_user_role()
  ), kept (policy, object) as (
    select p.policy, p.object from public.adk_user_policies() p
  ), stranger (role) as (
    select 'public' union all select rolname::text from pg_roles where rolname in ('anon', 'authenticated')
    union all select role from tier
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
                   from pg_policy where polrelid = o.object and oid not in (select policy from kept)),
                  format('CREATE POLICY adk_owner ON %s FOR ALL TO %s USING (true) WITH CHECK (true);',
                         o.name, o.owner::regrole))
    from public.adk_objects() o
    where o.kind = 'table' and (
      select count(*) <> 1 or not bool_and(polcmd = '*' and polpermissive and polroles = array[o.owner])
      from pg_policy where polrelid = o.object and oid not in (select policy from kept))
    union all
    select o.name, s.role || ' has a privilege on it', format('REVOKE ALL ON TABLE %s FROM %I;', o.name, s.role)
    from public.adk_objects() o cross join stranger s
    where o.kind in ('table', 'view')
      and not (s.role in (select role from tier) and o.object in (select object from kept)) and (
      has_table_privilege(s.role, o.object, 'select,insert,update,delete,truncate,references,trigger')
      or has_any_column_privilege(s.role, o.object, 'select,insert,update,references')
      or exists (select from pg_class c cross join lateral aclexplode(c.relacl) a  -- MAINTAIN, and what is to come
                 where c.oid = o.object
                   and a.grantee = coalesce((select oid from pg_roles where rolname = s.role), 0)))
    union all
    select k.name, t.role || ' may do more than read it',
           format('REVOKE ALL ON TABLE %1$s FROM %2$I; GRANT SELECT ON TABLE %1$s TO %2$I;', k.name, t.role)
    from tier t cross join (select object, object::regclass::text from kept) k (object, name)
    where has_table_privilege(t.role, k.object,
            'insert,update,delete,truncate,references,trigger,select with grant option')
       or has_any_column_privilege(t.role, k.object, 'insert,update,references,select with grant option')
       or exists (select from pg_class c cross join lateral aclexplode(c.relacl) a
                  where c.oid = k.object and a.grantee = t.oid and a.privilege_type <> 'SELECT')
    union all
    select 'role ' || t.role, case r.oid when t.oid then 'no policy binds it' else 'it may become ' || r.rolname end,
           case r.oid when t.oid then format('ALTER ROLE %I NOSUPERUSER NOBYPASSRLS;', t.role)
                      else format('REVOKE %I FROM %I;', r.rolname, t.role) end
    from tier t join pg_roles r on pg_has_role(t.oid, r.oid, 'member')
    where r.rolsuper or r.rolbypassrls or r.oid = (select oid from owner)
    union all
    select o.name, s.role || ' has a privilege on it', format('REVOKE ALL ON SEQUENCE %s FROM %I;', o.name, s.role)
    from public.adk_objects() o cross join stranger s
    where o.kind = 'sequence' and has_sequence_privilege(s.role, o.object, 'usage,select,update')
    union all
    select o.name, s.role || ' may execute it', format('REVOKE ALL ON ROUTINE %s FROM %I;', o.name, s.role)
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
                  case d.defaclnamespace when 0 then '' else 'IN SCHEMA public ' end, upper(k.name),
                  quote_ident(g.name))
    from owner r
    join pg_default_acl d on d.defaclrole = r.oid and d.defaclnamespace in (0, 'public'::regnamespace)
    join (values ('r', 'tables'), ('S', 'sequences'), ('f', 'functions')) k (type, name)
      on k.type = d.defaclobjtype::text
    cross join lateral aclexplode(d.defaclacl) a
    join (select 0::oid, 'public' union all
          select oid, rolname::text from pg_roles where rolname in ('anon', 'authenticated') union all
          select oid, role from tier) g (oid, name)
      on g.oid = a.grantee
  )
  select coalesce(
    jsonb_agg(jsonb_build_object('object', object, 'problem', problem, 'remedy', remedy) order by object, problem),
    '[]')
  from opening
$$;

insert into public.adk_schema_migrations (version, name) values (5, 'user_tier') on conflict do nothing;
