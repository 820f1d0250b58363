-- The second tier: a role that reads the facts, sessions and events of one user, whose key is in its setting
-- app.user_key, and nothing else. `syndicate db apply --user-role NAME` runs it before db/hardening.sql, which gives
-- the role its SELECT and takes everything else from it. There is one such role: another name takes the last one's
-- place.
--
-- The name is in the setting syndicate.user_role; a role that does not exist is made, without login. Run it as the
-- owner of the tables, in one transaction with the hardening, as often as you like.
--
--   AG011 a privilege is missing   AG013 a role that no policy would bind

do $$ begin perform pg_advisory_xact_lock(82071204); end $$;

do $$
declare
  v_role  text := nullif(current_setting('syndicate.user_role', true), '');
  v_last  text := public.adk_user_role();
  v_owner oid  := (select relowner from pg_class where oid = 'public.adk_user_tier'::regclass);
  v_item  record;
begin
  if v_role is null or v_role in ('public', 'anon', 'authenticated', 'service_role') then
    raise exception '% cannot be the role that reads the rows of one user', coalesce(quote_ident(v_role), 'nobody')
      using errcode = 'AG013', hint = 'Choose a role of its own.';
  end if;
  if not exists (select from pg_roles where rolname = v_role) then
    begin
      execute format('create role %I nologin', v_role);
    exception
      when duplicate_object or unique_violation then null;  -- somebody was faster
      when insufficient_privilege then
        raise exception 'role % may not create the role %', current_user, quote_ident(v_role)
          using errcode = 'AG011', hint = format('CREATE ROLE %I NOLOGIN;', v_role);
    end;
  end if;
  for v_item in
    select r.rolname as name from pg_roles r
    where pg_has_role(v_role, r.oid, 'member') and (r.rolsuper or r.rolbypassrls or r.oid = v_owner)
  loop
    raise exception 'no policy would bind the role %: it is, or may become, %', quote_ident(v_role), v_item.name
      using errcode = 'AG013', hint = 'Choose a role that is no superuser, bypasses nothing and owns nothing here.';
  end loop;
  if not has_schema_privilege(v_role, 'public', 'usage') then
    execute format('grant usage on schema public to %I', v_role);
    if not has_schema_privilege(v_role, 'public', 'usage') then
      raise exception 'role % may not use schema public', quote_ident(v_role)
        using errcode = 'AG011', hint = format('GRANT USAGE ON SCHEMA public TO %I;', v_role);
    end if;
  end if;

  insert into public.adk_user_tier (role) values (v_role) on conflict (id) do update set role = excluded.role;
  for v_item in select object::regclass as name, condition from public.adk_user_conditions() loop
    if v_last <> v_role and exists (select from pg_roles where rolname = v_last) then
      execute format('revoke all on table %s from %I', v_item.name, v_last);
    end if;
    if exists (select from pg_policy where polrelid = v_item.name and polname = 'adk_user') then
      execute format('drop policy adk_user on %s', v_item.name);
    end if;
    execute format('create policy adk_user on %s for select to %I using (%s)', v_item.name, v_role, v_item.condition);
  end loop;
end
$$;
