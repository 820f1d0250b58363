-- Spans of model requests and of whole runs, as the predecessor keeps them.

create table if not exists public.adk_telemetry (
  id              bigint generated always as identity primary key,
  ts              timestamptz not null default now(),
  trace_id        text not null,
  span_id         text not null,
  span_name       text not null,
  syndicate       text,
  agent           text,
  provider        text,
  model           text,
  input_tokens    integer,
  output_tokens   integer,
  thinking_tokens integer,
  latency_ms      double precision,
  span            jsonb not null
);

create index if not exists idx_adk_telemetry_ts on public.adk_telemetry (ts desc);
create index if not exists idx_adk_telemetry_trace on public.adk_telemetry (trace_id);

insert into public.adk_schema_migrations (version, name) values (3, 'telemetry') on conflict do nothing;
