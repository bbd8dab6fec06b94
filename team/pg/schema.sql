-- Schema of the team store, version 1. PostgreSQL 14 or newer, no extension needed.
--
-- `xcsh-ls team init` runs it in one transaction, as a user who may create roles and schemas. No other command does.
-- :partitions is the number of hash partitions of segment and said: 8 for a team, 64 for a company. It can't be changed later.
\if :{?partitions} \else \set partitions 8 \endif
\set ON_ERROR_STOP 1
begin;

do $$ begin
  if not exists (select from pg_roles where rolname = 'xcsh_owner')  then create role xcsh_owner  nologin; end if;  -- owns everything
  if not exists (select from pg_roles where rolname = 'xcsh_member') then create role xcsh_member nologin; end if;  -- has every user's login role as a member
end $$;
grant xcsh_owner to current_user;
create schema xcsh authorization xcsh_owner;
set local role xcsh_owner;
set local search_path = xcsh;
select set_config('xcsh.partitions', :'partitions', true);

-- ---------------------------------------------------------------------------------------------------------------- users
create table meta (
  one        bool primary key default true check (one),
  version    int  not null,                        -- of the tables; each migration raises it
  speaks     int[] not null,                       -- the families of functions that exist: {1}
  store_id   uuid not null default gen_random_uuid(), -- distinguishes another store from a restored one, which has another epoch
  epoch      int  not null default 1,              -- `team doctor --restored` raises it; clients then compare every session again
  partitions int  not null
);
create table person (
  person_id int generated always as identity primary key,
  role      name not null unique,                  -- session_user; PostgreSQL authenticates it
  display   text not null,
  gone      timestamptz
);
create table team (
  team_id int generated always as identity primary key,
  name    text not null unique check (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$')
);
create table member (
  team_id   int references team on delete cascade,
  person_id int references person,
  level     smallint not null check (level between 1 and 3),   -- 1 reads, 2 writes, 3 administers
  primary key (team_id, person_id)
);
create index on member (person_id);
create table device (
  device   uuid primary key,                       -- random, one for each agent directory
  person_id int not null references person,
  label    text not null check (length(label) <= 64),   -- "laptop", "codespace fluffy-goggles"
  seen     timestamptz not null default now()
);
create table project (
  project_id int generated always as identity primary key,
  team_id    int not null references team,
  key        text not null,                        -- git:HOST/PATH#SUBFOLDER or name:NAME; never a path of a machine
  display    text not null,
  redact     bool not null default true,           -- false needs level 3
  keep_days  int check (keep_days >= 1),           -- null: without limit
  quota      bigint,                               -- bytes; null: none
  unique (team_id, key)
);

-- ----------------------------------------------------------------------------------------------------------- sessions
create table session (                             -- the columns of lists; changes seldom
  sid        uuid primary key,                     -- random, chosen by the device that publishes first
  project_id int  not null references project,
  owner_id   int  not null references person,
  visible    smallint not null default 1 check (visible in (0, 1)),  -- 0: its owner, 1: the team
  header_id  text not null check (length(header_id) between 1 and 200),  -- the id in the file's header
  variant    int  not null default 0,              -- 0, or the number of a fork: a conflict becomes a fork
  origin     uuid, origin_len bigint,              -- of a fork: its origin, and the number of shared bytes of the body
  dialect    smallint not null,                    -- 0 xcsh, 1 pi, 2 omp: its rules, and its directory when it is pulled
  file_name  text not null check (file_name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,150}\.jsonl$'),
  head       bytea not null,                       -- title slot and header line, cwd relative to the project
  head_rev   int  not null default 1,
  title      text, first_prompt text, messages int not null default 0, cost numeric(12,4),
  created    timestamptz not null,                 -- the header's timestamp; shown, never compared
  modified   timestamptz not null default now(),   -- the server's clock, at most once a minute
  touched    xid8 not null default pg_current_xact_id(),  -- orders changes for followers of the list
  deleted    timestamptz, deleted_by int,
  unique (project_id, header_id, variant)
);
create index session_list    on session (project_id, modified desc, sid desc) where deleted is null;
create index session_mine    on session (owner_id, modified desc, sid desc);
create index session_touched on session (project_id, touched);

create table tip (                                 -- the hot row: one HOT update per append, because only the key has an index
  sid        uuid primary key references session on delete cascade,
  project_id int not null, owner_id int not null, visible smallint not null,   -- copied from session for the policies; 2: deleted
  gen        int    not null default 1,            -- a file that was rewritten in its middle begins the next one
  len        bigint not null default 0,            -- of the body: all bytes behind the header line
  sum        bytea  not null,                      -- SHA-256 of those len bytes
  touched    xid8   not null default pg_current_xact_id(),
  fence      bigint not null default 0,            -- grows with every change of the writer, never shrinks
  device     uuid,                                 -- the writer, or null
  until      timestamptz,                          -- the server's clock
  listed     timestamptz not null default now(),   -- session.modified, without reading session
  heard_until timestamptz                          -- until then writers notify followers
) with (fillfactor = 50);

create table segment (                             -- the bytes of the body; it ends with a complete line
  sid   uuid not null, gen int not null,
  off   bigint not null,
  n     int not null,
  sum   bytea not null,                            -- SHA-256 of the body up to off + n, however it is cut into segments
  codec smallint not null default 0,               -- 0 plain; 1 in an object store, under the key in bytes; 2 encrypted for recipients
  bytes bytea not null,
  primary key (sid, gen, off)
) partition by hash (sid);
alter table segment alter bytes set compression lz4;

create table said (                                -- texts for the search: prompts and answers, cut at 8 KiB
  sid uuid not null, project_id int not null, owner_id int not null, visible smallint not null,
  off bigint not null, kind smallint not null,     -- 0 prompt, 1 answer, 2 title, 3 compaction summary
  entry text not null, body text not null
) partition by hash (sid);
create index said_sid   on said (sid, off);
create index said_words on said using gin (to_tsvector('simple', body)) with (fastupdate = off);

create table blob (                                -- images, by content, in each project: a hash alone gives access to no other project's image
  project_id int not null references project, sha bytea not null, n bigint not null, codec smallint not null default 0,
  bytes bytea not null, primary key (project_id, sha)
);
create table session_blob (                        -- the reference to blob makes new names wait for a purge, and fail if it removed the image
  project_id int not null, sid uuid references session on delete cascade, sha bytea,
  primary key (project_id, sha, sid), foreign key (project_id, sha) references blob
);
create index on session_blob (sid);
create table artifact (                            -- outputs next to a session; replaced completely
  sid uuid references session on delete cascade, name text check (name ~ '^[^/\\.][^/\\]{0,200}$'),
  n bigint not null, sum bytea not null, bytes bytea not null, primary key (sid, name)
);
create table audit (at timestamptz not null default now(), person_id int, what text not null, project_id int, sid uuid, detail text);
create index on audit (at);

do $$ declare p int := coalesce(nullif(current_setting('xcsh.partitions', true), '')::int, 8); begin
  for i in 0 .. p - 1 loop
    execute format('create table segment_%s partition of segment for values with (modulus %s, remainder %s)', i, p, i);
    execute format('create table said_%s partition of said for values with (modulus %s, remainder %s)', i, p, i);
  end loop;
  insert into meta (version, speaks, partitions) values (1, '{1}', p);
end $$;

-- --------------------------------------------------------------------------------------------------------- rights
-- session_user stays the login role in functions that run as the owner of the tables; current_user doesn't.
-- Frequently called functions are in PL/pgSQL, which keeps plans. Before PostgreSQL 18 every call plans a function in SQL.
create function me() returns int stable language plpgsql security definer set search_path = xcsh, pg_temp as
  $$ begin return (select person_id from person where role = session_user and gone is null); end $$;
create function projects(a_level smallint) returns int[] stable language plpgsql security definer set search_path = xcsh, pg_temp as $$ begin
  return (select coalesce(array_agg(p.project_id), '{}') from project p join member m using (team_id) join person x using (person_id)
     where x.role = session_user and x.gone is null and m.level >= a_level); end $$;

-- may is the check of functions that use tip or segment. It reads the row of one session.
create function may(a_sid uuid, a_level smallint) returns bool stable language plpgsql as $$ begin
  return exists (select from xcsh.tip t join xcsh.project p using (project_id) join xcsh.member m using (team_id) join xcsh.person x using (person_id)
    where t.sid = a_sid and x.role = session_user and x.gone is null and m.level >= a_level and (t.visible = 1 or t.visible = 0 and t.owner_id = x.person_id)); end $$;

-- Policies are the second line of defence. "(select f())" is evaluated once per statement, f() once per row. Where they are forced,
-- they also apply to the functions below, which run as the owner of the tables. They are not forced on the two tables of every append
-- (measured: 20 times the cost) and on the table of the search (it would use no index): there each function calls may() or filters,
-- and a test calls every function as users without rights.
create function walled(t regclass, own bool, forced bool) returns void language plpgsql as $$
declare whose text := case when own then ' and (visible = 1 or owner_id = (select xcsh.me()))' else '' end;
begin
  execute format('alter table %s enable row level security', t);
  if forced then execute format('alter table %s force row level security', t); end if;
  execute format('create policy r on %s for select using (project_id = any ((select xcsh.projects(1::smallint))::int[])%s)', t, whose);
  execute format('create policy w on %s for all using (project_id = any ((select xcsh.projects(2::smallint))::int[])%s)', t, whose);
end $$;
select walled('session', true, true), walled('tip', true, false), walled('said', true, false), walled('blob', false, true);
drop function walled;

-- Tables without a project: a user who sees the session sees them. session_blob is not forced, because purge_v1 must see all names
-- of an image: behind a policy, a purge would destroy images that only a private session of another user names.
do $$ declare t text; begin
  foreach t in array array['segment', 'session_blob', 'artifact'] loop
    execute format('alter table %s enable row level security', t);
    if t = 'artifact' then execute format('alter table %s force row level security', t); end if;
    execute format('create policy rw on %s using (exists (select from xcsh.session where session.sid = %s.sid))', t, t);
  end loop;
end $$;

-- -------------------------------------------------------------------------------------------------------- the protocol
-- Clients call functions and use no table, so that tables can change. The shape of a function never changes: another shape has
-- another name (append_v2), and meta.speaks lists the families that exist.
create type tip_v1 as (code text, gen int, len bigint, sum bytea, fence bigint, device uuid, left_ms int, heard bool);

create function hello_v1(a_device uuid, a_label text) returns table (speaks int[], store_id uuid, epoch int, person int, display text, replica bool)
language plpgsql security definer set search_path = xcsh, pg_temp as $$
begin
  if me() is null then raise exception 'not a member' using errcode = '28000'; end if;
  if not pg_is_in_recovery() then
    insert into device values (a_device, me(), a_label)
      on conflict (device) do update set seen = now(), label = excluded.label where device.person_id = me();
  end if;
  return query select m.speaks, m.store_id, m.epoch, p.person_id, p.display, pg_is_in_recovery() from meta m, person p where p.person_id = me();
end $$;

-- teams_v1 returns the teams of the user, with the user's level and the number of users that can read in them.
create function teams_v1() returns table (name text, level smallint, readers int) stable language sql security definer set search_path = xcsh, pg_temp as $$
  select t.name, m.level, (select count(*)::int from member o join person p using (person_id) where o.team_id = t.team_id and p.gone is null)
    from team t join member m using (team_id) where m.person_id = me() order by t.name $$;

create function tip_of(a_sid uuid, a_code text) returns tip_v1 stable language plpgsql as $$ declare r xcsh.tip_v1; begin
  select a_code, gen, len, sum, fence, device, case when device is null then 0 else greatest(0, extract(epoch from until - clock_timestamp()) * 1000)::int end,
         coalesce(heard_until > clock_timestamp(), false)
    into r from xcsh.tip where sid = a_sid;
  if r.code is null then return ('gone', 0, 0, ''::bytea, 0, null, 0, false)::xcsh.tip_v1; end if;
  return r; end $$;
create function tip_v1(a_sid uuid) returns tip_v1 stable language sql security definer set search_path = xcsh, pg_temp as
  $$ select case when may(a_sid, 1::smallint) then tip_of(a_sid, 'ok') else ('gone', 0, 0, ''::bytea, 0, null, 0, false)::tip_v1 end $$;

-- open_v1 returns the sessions that have the header id of a file, and creates one if there is none. A repeated call changes nothing.
create function open_v1(a_project int, a_sid uuid, a_header text, a_dialect smallint, a_file text, a_head bytea, a_created timestamptz,
                        a_visible smallint, a_title text) returns table (sid uuid, variant int, visible smallint, owner int)
language plpgsql security definer set search_path = xcsh, pg_temp as $$
#variable_conflict use_column
begin
  for v in 0 .. 99 loop   -- beyond 0 only where a hidden private session has the id already; a deleted session is not created again
    exit when exists (select from session s where s.project_id = a_project and s.header_id = a_header);
    if not a_project = any (projects(2::smallint)) then   -- before the policy refuses it, so that all projects get the same message
      raise exception 'the user may not create sessions in this project' using errcode = '42501';
    end if;
    insert into session (sid, project_id, owner_id, visible, header_id, variant, dialect, file_name, head, created, title)
      values (a_sid, a_project, me(), a_visible, a_header, v, a_dialect, a_file, a_head, a_created, a_title)
      on conflict do nothing;   -- also when a hidden session has this sid: then none is created
    if found then
      insert into tip (sid, project_id, owner_id, visible, sum) values (a_sid, a_project, me(), a_visible, sha256(''));
      exit;
    end if;
  end loop;
  return query select s.sid, s.variant, s.visible, s.owner_id from session s
    where s.project_id = a_project and s.header_id = a_header and s.deleted is null order by s.variant;
end $$;

-- append_v1 is the only function that adds bytes to a published body: all of them or none, and only behind the bytes that the caller
-- expects. code: ok · same (an earlier call did it, and its answer was lost) · fenced (another device writes) · gen (replaced) ·
-- ahead (longer than expected) · short (shorter: a restored backup) · other (as long, with other bytes) · gone
create function append_v1(a_sid uuid, a_gen int, a_len bigint, a_sum bytea, a_fence bigint, a_device uuid, a_bytes bytea, a_new bytea) returns tip_v1 language plpgsql security definer set search_path = xcsh, pg_temp as $$
declare t tip%rowtype; n int := length(a_bytes);
begin
  if not may(a_sid, 2::smallint) then return ('gone', 0, 0, ''::bytea, 0, null, 0, false)::tip_v1; end if;
  if n = 0 or length(a_new) <> 32 then   -- an empty segment would have the key of the next one, which then could never be added
    raise exception 'an append needs bytes and their SHA-256' using errcode = '22023';
  end if;
  update tip set len = len + n, sum = a_new, touched = pg_current_xact_id(),
         fence = case when device = a_device then fence else fence + 1 end,
         device = a_device, until = clock_timestamp() + interval '30 s'
   where sid = a_sid and gen = a_gen and len = a_len and sum = a_sum
     and (device is null or until < clock_timestamp() or device = a_device and fence = a_fence)
   returning * into t;
  if not found then
    select * into t from tip where sid = a_sid;
    return tip_of(a_sid, case
      when t.sid is null then 'gone'
      when t.gen <> a_gen then 'gen'
      when t.len = a_len + n and t.sum = a_new then 'same'
      when t.len > a_len then 'ahead'
      when t.len < a_len then 'short'
      when t.sum <> a_sum then 'other'
      else 'fenced' end);
  end if;
  insert into segment (sid, gen, off, n, sum, bytes) values (a_sid, a_gen, a_len, n, a_new, a_bytes);
  if t.listed < now() - interval '1 min' then
    update tip set listed = now() where sid = a_sid;
    update session set modified = now(), touched = pg_current_xact_id() where sid = a_sid;
  end if;
  return ('ok', t.gen, t.len, t.sum, t.fence, t.device, 30000, coalesce(t.heard_until > clock_timestamp(), false))::tip_v1;
end $$;

-- lease_v1 makes the device the writer, or extends the time of the writer. If the lease is free, expired or the device's own, or by
-- force (the user asked for it): code ok, and the fence for writing. Otherwise busy, with the writer and the time that is left.
create function lease_v1(a_sid uuid, a_device uuid, a_force bool) returns tip_v1
language plpgsql security definer set search_path = xcsh, pg_temp as $$
begin
  if not may(a_sid, 2::smallint) then return ('gone', 0, 0, ''::bytea, 0, null, 0, false)::tip_v1; end if;
  update tip set fence = case when device = a_device then fence else fence + 1 end,
         device = a_device, until = clock_timestamp() + interval '30 s'
   where sid = a_sid and (device is null or device = a_device or until < clock_timestamp() or a_force);
  if found and a_force then insert into audit (person_id, what, sid) values (me(), 'take over', a_sid); end if;
  return tip_of(a_sid, case when found then 'ok' else 'busy' end);
end $$;
-- writer_v1 returns the device that has the lease, also after it ran out, and its user: names for a question to users, which decide nothing.
create function writer_v1(a_sid uuid) returns table (device uuid, label text, owner text, mine bool, left_ms int)
stable language sql security definer set search_path = xcsh, pg_temp as $$
  select d.device, d.label, p.display, d.person_id = me(), greatest(0, extract(epoch from t.until - clock_timestamp()) * 1000)::int
    from tip t join device d on d.device = t.device join person p on p.person_id = d.person_id where t.sid = a_sid and may(a_sid, 1::smallint) $$;
-- follow_v1 makes writers notify. A follower calls it once a minute for its sessions. Without it a writer doesn't notify, because the
-- cost of a notification doesn't depend on the number of listeners.
create function follow_v1(a_sids uuid[]) returns void language sql security definer set search_path = xcsh, pg_temp as
  $$ update tip set heard_until = clock_timestamp() + interval '90 s'
      where sid = any (a_sids) and (heard_until is null or heard_until < clock_timestamp() + interval '40 s') and may(sid, 1::smallint) $$;
create function release_v1(a_sid uuid, a_device uuid, a_fence bigint) returns void language sql security definer set search_path = xcsh, pg_temp as
  $$ update tip set device = null, until = null where sid = a_sid and device = a_device and fence = a_fence and may(a_sid, 2::smallint) $$;

-- read_v1 is one round trip of a pull: segments, beginning with the one that contains a_from, until they have a_most bytes.
create function read_v1(a_sid uuid, a_gen int, a_from bigint, a_most int) returns table (off bigint, sum bytea, codec smallint, bytes bytea)
stable language plpgsql security definer set search_path = xcsh, pg_temp as $$
#variable_conflict use_column
declare got bigint := 0; r record;
begin
  if not may(a_sid, 1::smallint) then return; end if;
  for r in select s.off, s.n, s.sum, s.codec, s.bytes from segment s
            where s.sid = a_sid and s.gen = a_gen and s.off >= coalesce((select max(x.off) from segment x where x.sid = a_sid and x.gen = a_gen and x.off <= a_from), 0)
            order by s.off loop
    off := r.off; sum := r.sum; codec := r.codec; bytes := r.bytes;
    return next;
    got := got + r.n;
    exit when got >= a_most;
  end loop;
end $$;

-- back_v1 is the same from the end: the newest part of a large session, which is shown before it is pulled.
create function back_v1(a_sid uuid, a_gen int, a_before bigint, a_most int) returns table (off bigint, bytes bytea)
stable language plpgsql security definer set search_path = xcsh, pg_temp as $$
#variable_conflict use_column
declare got bigint := 0; r record;
begin
  if not may(a_sid, 1::smallint) then return; end if;
  for r in select s.off, s.n, s.bytes from segment s where s.sid = a_sid and s.gen = a_gen and s.off < a_before order by s.off desc loop
    off := r.off; bytes := r.bytes;
    return next;
    got := got + r.n;
    exit when got >= a_most;
  end loop;
end $$;

-- sum_v1 is the sum at the last segment end at or before a_at, to compare a file of unknown history.
create function sum_v1(a_sid uuid, a_gen int, a_at bigint) returns table (at bigint, sum bytea)
stable language sql security definer set search_path = xcsh, pg_temp as $$
  select off + n, sum from segment where sid = a_sid and gen = a_gen and off < a_at and off + n <= a_at and may(a_sid, 1::smallint) order by off desc limit 1 $$;

-- fork_v1 creates a session for lines that conflict. The shared bytes are copied here instead of being sent. a_at is the end of a
-- segment (sum_v1), otherwise the code is other. A repeated call with the same a_new answers the same.
create function fork_v1(a_sid uuid, a_gen int, a_at bigint, a_new uuid, a_head bytea, a_device uuid) returns tip_v1
language plpgsql security definer set search_path = xcsh, pg_temp as $$
declare s session%rowtype; shared bytea := sha256(''); made bool := false; first int; begin
  if not may(a_sid, 2::smallint) then return ('gone', 0, 0, ''::bytea, 0, null, 0, false)::tip_v1; end if;
  select * into s from session where sid = a_sid for update;   -- a repeated call waits for the first one
  if exists (select from session where sid = a_new) then
    return case when may(a_new, 1::smallint) then tip_of(a_new, 'ok') else ('gone', 0, 0, ''::bytea, 0, null, 0, false)::tip_v1 end;
  end if;
  if a_gen > (select gen from tip where sid = a_sid) then return tip_of(a_sid, 'other'); end if;   -- only staged
  if a_at <> 0 then
    select x.sum into shared from (select off + n as at, sum from segment where sid = a_sid and gen = a_gen and off < a_at order by off desc limit 1) x
     where x.at = a_at;
    if not found then return tip_of(a_sid, 'other'); end if;
  end if;
  select 1 + max(variant) into first from session where project_id = s.project_id and header_id = s.header_id;
  for v in first .. first + 99 loop   -- more than once where hidden sessions have the numbers
    insert into session (sid, project_id, owner_id, visible, header_id, variant, origin, origin_len, dialect, file_name, head, title, first_prompt, messages, created)
      values (a_new, s.project_id, me(), s.visible, s.header_id, v, a_sid, a_at, s.dialect, s.file_name, a_head, s.title, s.first_prompt, s.messages, s.created)
      on conflict do nothing;
    made := found;
    exit when made;
  end loop;
  if not made then return ('gone', 0, 0, ''::bytea, 0, null, 0, false)::tip_v1; end if;
  insert into tip (sid, project_id, owner_id, visible, len, sum, device, fence, until)
    values (a_new, s.project_id, me(), s.visible, a_at, shared, a_device, 1, clock_timestamp() + interval '30 s');
  insert into segment select a_new, 1, off, n, sum, codec, bytes from segment where sid = a_sid and gen = a_gen and off < a_at;
  insert into said select a_new, project_id, me(), s.visible, off, kind, entry, body from said where sid = a_sid and off < a_at;
  insert into session_blob select project_id, a_new, sha from session_blob where sid = a_sid;
  return tip_of(a_new, 'ok');
end $$;

-- stage_v1 and publish_v1 replace the body of a file that was rewritten in its middle. The new body is put next to the old one in any
-- number of calls, and then replaces it in one. Until then all users read the old one, which is kept for 30 days.
-- A piece must continue the staged pieces before it (a_was is their sum), so that pieces of two devices never mix; a piece at 0
-- begins again. false: it doesn't, or the session is gone.
create function stage_v1(a_sid uuid, a_gen int, a_off bigint, a_was bytea, a_bytes bytea, a_sum bytea) returns bool
language plpgsql security definer set search_path = xcsh, pg_temp as $$
begin
  if not may(a_sid, 2::smallint) then return false; end if;
  if length(a_bytes) = 0 or length(a_sum) <> 32 then
    raise exception 'a staged piece needs bytes and their SHA-256' using errcode = '22023';
  end if;
  perform from tip where sid = a_sid and gen < a_gen for update;
  if not found then return false; end if;
  if a_off <> 0 and not exists (select from (select off + n as at, sum from segment where sid = a_sid and gen = a_gen and off < a_off order by off desc limit 1) x
      where x.at = a_off and x.sum = a_was) then
    return false;
  end if;
  delete from segment where sid = a_sid and gen = a_gen and off >= a_off;
  insert into segment (sid, gen, off, n, sum, bytes) values (a_sid, a_gen, a_off, length(a_bytes), a_sum, a_bytes);
  return true;
end $$;
-- code: ok · same · fenced (the device doesn't have the lease with this fence) · other (the published body is not the expected one, or
-- the staged one is incomplete) · gone
create function publish_v1(a_sid uuid, a_was_gen int, a_was_len bigint, a_was_sum bytea, a_gen int, a_len bigint, a_sum bytea, a_fence bigint, a_device uuid)
returns tip_v1 language plpgsql security definer set search_path = xcsh, pg_temp as $$
declare t tip%rowtype; begin
  if not may(a_sid, 2::smallint) then return ('gone', 0, 0, ''::bytea, 0, null, 0, false)::tip_v1; end if;
  select * into t from tip where sid = a_sid for update;
  if t.gen = a_gen and t.len = a_len and t.sum = a_sum then return tip_of(a_sid, 'same'); end if;
  if a_gen <= t.gen or t.gen <> a_was_gen or t.len <> a_was_len or t.sum <> a_was_sum then return tip_of(a_sid, 'other'); end if;
  if t.device is distinct from a_device or t.fence <> a_fence then return tip_of(a_sid, 'fenced'); end if;
  if a_len <> 0 and not exists (select from segment where sid = a_sid and gen = a_gen and off < a_len and off + n = a_len and sum = a_sum)
     or a_len = 0 and a_sum <> sha256('')
     or (select coalesce(sum(n), 0) from segment where sid = a_sid and gen = a_gen and off < a_len) <> a_len then
    return tip_of(a_sid, 'other');
  end if;
  delete from segment where sid = a_sid and (gen = a_gen and off >= a_len or gen > t.gen and gen <> a_gen);   -- staged in vain
  update tip set gen = a_gen, len = a_len, sum = a_sum, touched = pg_current_xact_id() where sid = a_sid;
  update session set modified = now(), touched = pg_current_xact_id() where sid = a_sid;
  delete from said where sid = a_sid;
  insert into audit (person_id, what, sid, detail) values (me(), 'generation', a_sid, a_gen::text);
  return tip_of(a_sid, 'ok');
end $$;

create function head_v1(a_sid uuid, a_rev int, a_head bytea, a_title text, a_first text, a_messages int, a_cost numeric) returns int
language sql security definer set search_path = xcsh, pg_temp as $$
  update session set head = a_head, head_rev = head_rev + (head <> a_head)::int, title = a_title, first_prompt = left(a_first, 200), messages = a_messages,
         cost = a_cost, modified = now(), touched = pg_current_xact_id()
   where sid = a_sid and head_rev = a_rev returning head_rev $$;

create function head_of_v1(a_sid uuid) returns table (head bytea, rev int, file_name text, dialect smallint, variant int, header_id text)
stable language sql security definer set search_path = xcsh, pg_temp as
  $$ select head, head_rev, file_name, dialect, variant, header_id from session where sid = a_sid and deleted is null $$;

create type info_v1 as (sid uuid, project int, owner text, visible smallint, header_id text, variant int, dialect smallint, title text, first_prompt text,
  messages int, cost numeric, bytes bigint, created timestamptz, modified timestamptz, writer text, left_ms int, deleted bool);
create view info with (security_barrier) as
  select s.sid, s.project_id, p.display as owner, s.visible, s.header_id, s.variant, s.dialect, s.title, s.first_prompt, s.messages, s.cost, t.len,
         s.created, s.modified, d.label as writer,
         greatest(0, extract(epoch from t.until - clock_timestamp()) * 1000)::int as left_ms, s.deleted is not null as deleted, s.touched
    from session s join tip t using (sid) join person p on p.person_id = s.owner_id left join device d on d.device = t.device and t.until > clock_timestamp();
-- list_v1 reads the page by its index first, and then the other tables for its few rows. The page begins behind (a_before, a_before_sid).
create function list_v1(a_project int, a_before timestamptz, a_before_sid uuid, a_limit int) returns setof info_v1
stable language plpgsql security definer set search_path = xcsh, pg_temp as $$ begin
  return query select s.sid, s.project_id, p.display, s.visible, s.header_id, s.variant, s.dialect, s.title, s.first_prompt, s.messages, s.cost::numeric, t.len,
      s.created, s.modified, d.label, greatest(0, extract(epoch from t.until - clock_timestamp()) * 1000)::int, false
    from (select * from session x where x.project_id = a_project and x.deleted is null
             and (x.modified, x.sid) < (coalesce(a_before, 'infinity'), coalesce(a_before_sid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
           order by x.modified desc, x.sid desc limit a_limit) s
    join tip t using (sid) join person p on p.person_id = s.owner_id left join device d on d.device = t.device and t.until > clock_timestamp()
   order by s.modified desc, s.sid desc; end $$;
-- mine_v1 is list_v1 for the caller's own sessions of all projects, with those in the trash.
create function mine_v1(a_before timestamptz, a_before_sid uuid, a_limit int) returns setof info_v1
stable language plpgsql security definer set search_path = xcsh, pg_temp as $$ begin
  return query select s.sid, s.project_id, p.display, s.visible, s.header_id, s.variant, s.dialect, s.title, s.first_prompt, s.messages, s.cost::numeric, t.len,
      s.created, s.modified, d.label, greatest(0, extract(epoch from t.until - clock_timestamp()) * 1000)::int, s.deleted is not null
    from (select * from session x where x.owner_id = me()
             and (x.modified, x.sid) < (coalesce(a_before, 'infinity'), coalesce(a_before_sid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
           order by x.modified desc, x.sid desc limit a_limit) s
    join tip t using (sid) join person p on p.person_id = s.owner_id left join device d on d.device = t.device and t.until > clock_timestamp()
   order by s.modified desc, s.sid desc; end $$;
create function infos_v1(a_sids uuid[]) returns setof info_v1 stable language sql security definer set search_path = xcsh, pg_temp as $$
  select sid, project_id, owner, visible, header_id, variant, dialect, title, first_prompt, messages, cost, len, created, modified, writer, left_ms, deleted
    from info where sid = any (a_sids) and not deleted $$;
-- changes_v1 returns the changes since a cursor, and in its first row the next cursor: the oldest running transaction. It misses no
-- change and returns some twice. It depends on no clock.
create function changes_v1(a_project int, a_since xid8) returns table (cursor xid8, info info_v1)
stable language sql security definer set search_path = xcsh, pg_temp as $$
  select pg_snapshot_xmin(pg_current_snapshot()), null::info_v1 union all
  select null, (sid, project_id, owner, visible, header_id, variant, dialect, title, first_prompt, messages, cost, len, created, modified, writer, left_ms, deleted)::info_v1
    from info where project_id = a_project and touched >= a_since $$;
create function tips_v1(a_sids uuid[], a_since xid8) returns table (cursor xid8, sid uuid, gen int, len bigint)
stable language sql security definer set search_path = xcsh, pg_temp as $$
  select pg_snapshot_xmin(pg_current_snapshot()), null::uuid, null::int, null::bigint union all
  select null, sid, gen, len from tip where sid = any (a_sids) and touched >= a_since and may(sid, 1::smallint) $$;
-- said_v1 files texts for the search. It is not part of an append, because the index costs more than the rest of the append; a client
-- calls it when a session rests. The texts replace those that were filed for the same range of the body, so that it can be repeated.
create function said_v1(a_sid uuid, a_from bigint, a_to bigint, a_off bigint[], a_kind smallint[], a_entry text[], a_text text[]) returns int
language plpgsql security definer set search_path = xcsh, pg_temp as $$
declare k int; begin
  if not may(a_sid, 2::smallint) then return 0; end if;
  delete from said where sid = a_sid and off >= a_from and off < a_to;
  insert into said select a_sid, t.project_id, t.owner_id, t.visible, o, k1, e, b from unnest(a_off, a_kind, a_entry, a_text) as u (o, k1, e, b), tip t where t.sid = a_sid;
  get diagnostics k = row_count;
  return k;
end $$;
-- search_v1 filters by itself: behind a policy @@ would be evaluated last, for every row, because it is not leakproof.
create function search_v1(a_projects int[], a_query text, a_limit int) returns table (sid uuid, entry text, kind smallint, off bigint, excerpt text)
stable language plpgsql security definer set search_path = xcsh, pg_temp as $$
#variable_conflict use_column
declare seen int[] := projects(1::smallint); mine int := me(); q tsquery := websearch_to_tsquery('simple', a_query); begin
  return query with hit as materialized (
    select sid, entry, kind, off, body from said
     where to_tsvector('simple', body) @@ q and project_id = any (a_projects) and project_id = any (seen) and (visible = 1 or owner_id = mine) limit 1000)
  select h.sid, h.entry, h.kind, h.off, ts_headline('simple', h.body, q, 'MaxFragments=1,MaxWords=20,MinWords=8')
    from (select hit.*, session.modified from hit join session using (sid) where session.deleted is null order by session.modified desc, off desc limit a_limit) h;
end $$;

create function put_blob_v1(a_project int, a_sid uuid, a_bytes bytea) returns bytea language plpgsql security definer set search_path = xcsh, pg_temp as $$
declare h bytea := sha256(a_bytes);   -- computed here, so that no client stores other bytes under a hash
begin
  if not may(a_sid, 2::smallint) or not exists (select from tip where sid = a_sid and project_id = a_project) then return null; end if;
  insert into blob (project_id, sha, n, bytes) values (a_project, h, length(a_bytes), a_bytes) on conflict do nothing;
  insert into session_blob values (a_project, a_sid, h) on conflict do nothing;
  return h;
end $$;
-- lacks_v1 records that the session names images, and returns those that no visible session of the project names: put_blob_v1 stores them.
-- Without the record a purge of the other session would remove the image.
create function lacks_v1(a_project int, a_sid uuid, a_sha bytea[]) returns setof bytea language plpgsql security definer set search_path = xcsh, pg_temp as $$
begin
  if may(a_sid, 2::smallint) and exists (select from tip where sid = a_sid and project_id = a_project) then
    insert into session_blob (project_id, sid, sha)
      select distinct a_project, a_sid, h from unnest(a_sha) h
       where exists (select from session_blob x where x.project_id = a_project and x.sha = h and may(x.sid, 1::smallint))
      on conflict do nothing;
  end if;
  return query select h from unnest(a_sha) h where not exists (select from session_blob x where x.project_id = a_project and x.sha = h and x.sid = a_sid and may(a_sid, 2::smallint));
end $$;
-- blob_v1 returns an image that a visible session of the project names.
create function blob_v1(a_project int, a_sha bytea) returns bytea stable language plpgsql security definer set search_path = xcsh, pg_temp as $$
begin
  return (select b.bytes from blob b where b.project_id = a_project and b.sha = a_sha
     and exists (select from session_blob x where x.project_id = a_project and x.sha = a_sha and may(x.sid, 1::smallint)));
end $$;

create function project_v1(a_team text, a_key text, a_display text) returns int language plpgsql security definer set search_path = xcsh, pg_temp as $$
declare id int; begin
  select project_id into id from project join team using (team_id) join member m using (team_id) where name = a_team and key = a_key and m.person_id = me();
  if id is null then
    insert into project (team_id, key, display) select t.team_id, a_key, a_display from team t join member m using (team_id)
      where name = a_team and m.person_id = me() and m.level >= 2 on conflict (team_id, key) do update set display = project.display returning project_id into id;
  end if;
  return id;   -- null: no such team, or the user is no member
end $$;

-- projects_v1 lists the projects of the caller's teams. A client that looks a project up by it creates none, and sends no key.
create function projects_v1() returns table (project int, team text, key text) stable language sql security definer set search_path = xcsh, pg_temp as
  $$ select project_id, name, key from project join team using (team_id) where project_id = any (projects(1::smallint)) order by project_id $$;

-- delete_v1 hides a session from all users at once; it stays in the trash for 30 days. purge_v1 destroys segments, texts, artifacts, and
-- then images that no session names. Only the owner and administrators may. A line in audit remains.
create function delete_v1(a_sid uuid, a_undo bool) returns bool language plpgsql security definer set search_path = xcsh, pg_temp as $$
begin
  update session set deleted = case when a_undo then null else coalesce(deleted, now()) end, deleted_by = me(), touched = pg_current_xact_id()
   where sid = a_sid and (owner_id = me() or project_id = any (projects(3::smallint)));
  if found then
    update tip t set visible = case when a_undo then s.visible else 2 end, device = null from session s
     where t.sid = a_sid and s.sid = a_sid and t.visible <> case when a_undo then s.visible else 2 end;   -- a repeated call ends no lease
    insert into audit (person_id, what, sid) values (me(), case when a_undo then 'undelete' else 'delete' end, a_sid);
    return true;
  end if;
  return false;
end $$;
create function purge_v1(a_project int, a_now bool) returns int language plpgsql security definer set search_path = xcsh, pg_temp as $$
declare gone uuid[]; begin
  if not a_project = any (projects(2::smallint)) then return 0; end if;
  select array_agg(sid) into gone from session s join project p using (project_id)
   where s.project_id = a_project and (s.deleted < now() - case when a_now then interval '0' else interval '30 days' end
         or s.modified < now() - p.keep_days * interval '1 day')
     and (s.owner_id = me() or a_project = any (projects(3::smallint)));
  delete from segment where sid = any (gone);
  delete from said where sid = any (gone);
  delete from session where sid = any (gone);
  -- Locked first, so that the deletion sees the names that others added meanwhile.
  perform from blob b where project_id = a_project and not exists (select from session_blob x where x.project_id = a_project and x.sha = b.sha) for update;
  delete from blob b where project_id = a_project and not exists (select from session_blob x where x.project_id = a_project and x.sha = b.sha);
  insert into audit (person_id, what, project_id, detail) values (me(), 'purge', a_project, cardinality(gone)::text);
  return coalesce(cardinality(gone), 0);
end $$;
-- compact_v1 joins runs of small segments of a session without a writer to segments of up to 1 MiB. Sums and readers are not affected.
create function compact_v1(a_sid uuid) returns int language plpgsql security definer set search_path = xcsh, pg_temp as $$
declare r record; made int := 0; begin
  perform from tip where sid = a_sid and (device is null or until < clock_timestamp()) and may(a_sid, 2::smallint) for update;
  if not found then return 0; end if;
  for r in with s as (select gen, off, n, off / 1048576 as box from segment where sid = a_sid and gen = (select gen from tip where sid = a_sid) and codec = 0 and n < 524288)
           select gen, min(off) as lo, max(off) as hi, count(*) as k, sum(n) as n from s group by gen, box having count(*) > 1 and max(off + n) - min(off) = sum(n) loop
    with d as (delete from segment where sid = a_sid and gen = r.gen and off between r.lo and r.hi returning off, n, sum, bytes)
    insert into segment (sid, gen, off, n, sum, bytes)
      select a_sid, r.gen, r.lo, r.n, (select sum from d order by off desc limit 1), (select string_agg(bytes, ''::bytea order by off) from d);
    made := made + 1;
  end loop;
  return made;
end $$;

-- ------------------------------------------------------------------------------------------------------ administration
-- person_v1 adds a user. Only users with the role xcsh_owner change an existing one: an administrator of one team must neither rename
-- the users of another one nor readmit users who left.
create function person_v1(a_role name, a_display text) returns int language plpgsql security definer set search_path = xcsh, pg_temp as $$
declare owner bool := pg_has_role(session_user, 'xcsh_owner', 'member'); begin
  if not owner and not exists (select from member where person_id = me() and level = 3) then return null; end if;
  insert into person (role, display) values (a_role, a_display) on conflict (role) do nothing;
  if owner then update person set display = a_display, gone = null where role = a_role; end if;
  return (select person_id from person where role = a_role and gone is null);
end $$;
create function team_v1(a_team text) returns int language plpgsql security definer set search_path = xcsh, pg_temp as $$
declare id int; begin
  if not pg_has_role(session_user, 'xcsh_owner', 'member') then raise exception 'only users with the role xcsh_owner create teams' using errcode = '42501'; end if;
  insert into team (name) values (a_team) on conflict (name) do update set name = excluded.name returning team_id into id;
  if me() is not null then insert into member values (id, me(), 3) on conflict do nothing; end if;
  return id;
end $$;
create function grant_v1(a_team text, a_role name, a_level smallint) returns bool language plpgsql security definer set search_path = xcsh, pg_temp as $$
declare t int; p int; begin
  select team_id into t from team where name = a_team and (pg_has_role(session_user, 'xcsh_owner', 'member')
    or exists (select from member m where m.team_id = team.team_id and m.person_id = me() and m.level = 3));
  select person_id into p from person where role = a_role and gone is null;
  if t is null or p is null then return false; end if;
  delete from member where team_id = t and person_id = p;
  if a_level > 0 then insert into member values (t, p, a_level); end if;
  insert into audit (person_id, what, detail) values (me(), 'grant', a_team || ' ' || a_role || ' ' || a_level);
  return true;
end $$;

reset role;

-- -------------------------------------------------------------------------------------------------------------- grants
-- An upgrade runs this part again for new functions.
grant usage on schema xcsh to xcsh_member;
revoke all on all functions in schema xcsh from public;
do $$ declare f regprocedure; begin      -- members call only these
  for f in select p.oid from pg_proc p where pronamespace = 'xcsh'::regnamespace and (proname ~ '_v\d+$' or proname in ('me', 'projects')) loop
    execute format('grant execute on function %s to xcsh_member', f);
  end loop;
end $$;
commit;
