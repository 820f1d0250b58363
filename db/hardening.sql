-- Deny by default. Run it as the owner of the tables, in one transaction, as often as you like; `syndicate db apply`
-- runs it after the migrations, every time.
--
-- Ours are the tables, views and sequences of schema public that are called adk_* or a2a_*, and the functions that are
-- called adk_* or speak of such a table. On these, PUBLIC and Supabase's roles anon and authenticated get nothing; each
-- table has row-level security enabled and forced, with one policy for its owner. The role service_role may execute the
-- functions, and it bypasses row-level security by design: whoever has its key has everything. The role of the second
-- tier, where db/user_tier.sql made one, keeps policies that are exactly its own, and SELECT on their tables.
-- Tables, sequences and functions that this role makes later start without privileges for those three, too.

do $$ begin perform pg_advisory_xact_lock(82071204); end $$;

do $$
declare
  v_strangers text := 'public' || coalesce((select string_agg(', ' || quote_ident(rolname), '' order by rolname)
    from pg_roles where rolname in ('anon', 'authenticated', public.adk_user_role())), '');
  v_vector    text := coalesce((select quote_ident(n.nspname) || ', ' from pg_extension e
    join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'), '');
  v_server    boolean := to_regrole('service_role') is not null;
  v_item      record;
  v_policy    name;
begin
  for v_item in
    select c.oid, c.oid::regclass as name, c.relkind, c.relowner, c.relrowsecurity, c.relforcerowsecurity
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
      and c.relname ~ '^(adk|a2a)_' and pg_has_role(c.relowner, 'usage')
    order by c.oid
  loop
    execute format('revoke all on %s %s from %s', case v_item.relkind when 'S' then 'sequence' else 'table' end,
      v_item.name, v_strangers);
    continue when v_item.relkind not in ('r', 'p');
    if not v_item.relrowsecurity then
      execute format('alter table %s enable row level security', v_item.name);
    end if;
    if not v_item.relforcerowsecurity then
      execute format('alter table %s force row level security', v_item.name);
    end if;
    for v_policy in select polname from pg_policy where polrelid = v_item.oid and not (polname = 'adk_owner'
        and polcmd = '*' and polpermissive and polroles = array[v_item.relowner])
        and oid not in (select policy from public.adk_user_policies()) loop
      execute format('drop policy %I on %s', v_policy, v_item.name);
    end loop;
    if not exists (select from pg_policy where polrelid = v_item.oid and polname = 'adk_owner') then
      execute format('create policy adk_owner on %s for all to %I using (true) with check (true)',
        v_item.name, pg_get_userbyid(v_item.relowner));
    end if;
    if v_item.oid in (select object from public.adk_user_policies()) then
      execute format('grant select on table %s to %I', v_item.name, public.adk_user_role());
    end if;
  end loop;

  for v_item in
    select p.oid::regprocedure as name, p.proname, exists (
      select from unnest(p.proconfig) c (setting) where c.setting ~ '^search_path=(.*, *)?"?pg_temp"?$') as pinned
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.prokind in ('f', 'p') and pg_has_role(p.proowner, 'usage')
      and (p.proname ~ '^adk_' or p.prosrc ~ '\m(adk|a2a)_')
      and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid
                        and d.deptype = 'e')
    order by p.oid
  loop
    execute format('revoke all on routine %s from %s', v_item.name, v_strangers);
    if v_server then
      execute format('grant execute on routine %s to service_role', v_item.name);
    end if;
    if not v_item.pinned then
      execute format('alter routine %s set search_path = pg_catalog, public, %spg_temp', v_item.name, v_vector);
    end if;
  end loop;

  -- Execution by everybody is a default of the whole database: a revoke in one schema would not change it.
  execute 'alter default privileges revoke execute on functions from public';
  execute format('alter default privileges in schema public revoke all on tables from %s', v_strangers);
  execute format('alter default privileges in schema public revoke all on sequences from %s', v_strangers);
  execute format('alter default privileges in schema public revoke all on functions from %s', v_strangers);
end
$$;
