-- What whoever runs a database asks of it. "-- name: x" starts a statement, as in queries.sql.
-- These run with the rights of the role that connects, never behind `SET ROLE`.

-- name: server
SELECT current_setting('server_version'), pg_is_in_recovery(), current_user::text,
    pg_database_size(current_database()),
    (SELECT age(datfrozenxid) FROM pg_database WHERE datname = current_database());

-- name: partitions
SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass(%(schema)s || '.organizations');

-- name: role
-- Whether it may log in, what it may do beyond that, and whether it is a member of the application.
SELECT r.rolcanlogin, array_remove(ARRAY[
        CASE WHEN r.rolsuper THEN 'SUPERUSER' END, CASE WHEN r.rolbypassrls THEN 'BYPASSRLS' END,
        CASE WHEN r.rolcreaterole THEN 'CREATEROLE' END,
        CASE WHEN r.rolcreatedb THEN 'CREATEDB' END,
        CASE WHEN r.rolreplication THEN 'REPLICATION' END], NULL),
    ARRAY(SELECT pg_get_userbyid(m.roleid)::text FROM pg_auth_members AS m
        WHERE m.member = r.oid ORDER BY 1),
    ARRAY(SELECT d.datname::text FROM pg_database AS d WHERE d.datdba = r.oid ORDER BY 1)
FROM pg_roles AS r WHERE r.rolname = %(role)s;

-- name: may_connect
SELECT has_database_privilege(%(role)s, current_database(), 'CONNECT'),
    current_database()::text;

-- name: exposed
-- What would let the application role see past its fence, or do more than read and write rows.
-- A partition asked for by its own name is not behind the policies of its table.
WITH ours AS (
    SELECT c.oid, c.relname::text AS name, c.relkind, c.relispartition, c.relrowsecurity,
        c.relowner, c.relacl,
        EXISTS (SELECT 1 FROM pg_attribute AS a
            WHERE a.attrelid = c.oid AND a.attname = 'organization' AND NOT a.attisdropped) AS kept
    FROM pg_class AS c WHERE c.relnamespace = to_regnamespace(%(schema)s)
        AND c.relkind IN ('r', 'p', 'v', 'm'))
SELECT 'table ' || name || ' has no row-level security; run: ALTER TABLE ' || %(schema)s || '.'
    || name || ' ENABLE ROW LEVEL SECURITY'
FROM ours WHERE kept AND NOT relispartition AND relkind IN ('r', 'p') AND NOT relrowsecurity
UNION ALL
SELECT 'table ' || name || ' has no policy named fence that keeps to an organization; copy the '
    || 'database into a new one with: incumbent copy'
FROM ours WHERE kept AND NOT relispartition AND relkind IN ('r', 'p') AND NOT EXISTS (
    SELECT 1 FROM pg_policy WHERE polrelid = ours.oid AND polname = 'fence' AND polcmd = '*'
        AND pg_get_expr(polqual, polrelid) LIKE '%%organization = %%incumbent.organization%%')
UNION ALL
SELECT 'policy ' || p.polname || ' on table ' || name || ' is not ours and lets more rows through; '
    || 'run: DROP POLICY ' || quote_ident(p.polname) || ' ON ' || %(schema)s || '.' || name
FROM ours JOIN pg_policy AS p ON p.polrelid = ours.oid AND p.polname <> 'fence' AND p.polpermissive
UNION ALL
SELECT 'partition ' || name || ' can be read past its table by ' || max(named.grantee) || ' ('
    || string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type) || '); run: REVOKE ALL ON '
    || %(schema)s || '.' || name || ' FROM ' || max(named.grantee)
FROM ours, aclexplode(relacl) AS a, LATERAL (SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC'
    ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee) AS named
WHERE relispartition AND a.grantee <> relowner GROUP BY name, a.grantee
UNION ALL
SELECT 'role ' || %(role)s || ' may ' || string_agg(a.privilege_type, ', ') || ' table ' || name
    || '; run: REVOKE ' || string_agg(a.privilege_type, ', ') || ' ON ' || %(schema)s || '.' || name
    || ' FROM ' || %(role)s
FROM ours, aclexplode(relacl) AS a WHERE NOT relispartition
    AND a.grantee = (SELECT oid FROM pg_roles WHERE rolname = %(role)s)
    AND a.privilege_type NOT IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
GROUP BY name
UNION ALL
SELECT 'role ' || %(role)s || ' owns table ' || name || ', and no policy holds for an owner'
FROM ours WHERE relowner = (SELECT oid FROM pg_roles WHERE rolname = %(role)s)
UNION ALL
SELECT 'everybody may call function ' || f.proname || ', which sees past the fence; run: '
    || 'REVOKE ALL ON FUNCTION ' || f.oid::regprocedure || ' FROM PUBLIC'
FROM pg_proc AS f WHERE f.pronamespace = to_regnamespace(%(schema)s) AND f.prosecdef
    AND (f.proacl IS NULL OR EXISTS (SELECT 1 FROM aclexplode(f.proacl) AS a WHERE a.grantee = 0))
UNION ALL
SELECT 'function ' || f.proname || ' sees past the fence and looks first at what its caller made '
    || 'for a session; run: ALTER FUNCTION ' || f.oid::regprocedure
    || ' SET search_path = pg_catalog, ' || %(schema)s || ', pg_temp'
FROM pg_proc AS f WHERE f.pronamespace = to_regnamespace(%(schema)s) AND f.prosecdef
    AND NOT EXISTS (SELECT 1 FROM unnest(f.proconfig) AS set_to
        WHERE set_to LIKE 'search_path=%%, pg_temp')
UNION ALL
SELECT 'role ' || %(role)s || ' may make temporary tables, functions and types, and needs none; '
    || 'let the owner of the database run: REVOKE TEMPORARY ON DATABASE '
    || quote_ident(current_database()) || ' FROM PUBLIC, ' || %(role)s
FROM pg_roles WHERE rolname = %(role)s
    AND has_database_privilege(oid, current_database(), 'TEMPORARY')
ORDER BY 1;

-- name: invalid_indexes
SELECT 'index ' || i.relname || ' is not valid; run: REINDEX INDEX ' || %(schema)s || '.'
    || i.relname
FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid
WHERE i.relnamespace = to_regnamespace(%(schema)s) AND NOT x.indisvalid ORDER BY 1;

-- name: bind
-- For one transaction: the organization whose rows are counted.
SELECT set_config('incumbent.organization', %(organization)s, true),
    set_config('incumbent.everybody', 'on', true);

-- name: organization_names
SELECT {schema}.organization_names();

-- name: organization
-- Bytes are those of its rows, long values included, without indexes and what rows leave free.
SELECT f.total, f.live, o.seq, f.bytes + t.bytes + v.bytes + e.bytes
FROM (SELECT coalesce(max(seq), 0) AS seq FROM {schema}.organizations
        WHERE organization = %(organization)s) AS o,
    (SELECT count(*) FILTER (WHERE status <> 'erased') AS total,
        count(*) FILTER (WHERE live) AS live,
        coalesce(sum(pg_column_size(facts.*) + CASE WHEN octet_length(value) > 2000
            THEN pg_column_size(value) ELSE 0 END), 0)::bigint AS bytes
        FROM {schema}.facts WHERE organization = %(organization)s) AS f,
    (SELECT coalesce(sum(pg_column_size(tenures.*)), 0)::bigint AS bytes
        FROM {schema}.tenures WHERE organization = %(organization)s) AS t,
    (SELECT coalesce(sum(pg_column_size(verdicts.*)), 0)::bigint AS bytes
        FROM {schema}.verdicts WHERE organization = %(organization)s) AS v,
    (SELECT coalesce(sum(pg_column_size(entries.*)), 0)::bigint AS bytes
        FROM {schema}.entries WHERE organization = %(organization)s) AS e;

-- name: turns
SELECT user_id, {turn} FROM {schema}.turns WHERE organization = %(organization)s;

-- name: tables
-- Each table with all of its partitions taken together.
SELECT c.relname::text, sum(pg_table_size(leaf.oid))::bigint, sum(pg_indexes_size(leaf.oid))::bigint,
    coalesce(sum(s.n_live_tup), 0)::bigint, coalesce(sum(s.n_dead_tup), 0)::bigint
FROM pg_class AS c
CROSS JOIN LATERAL (
    SELECT c.oid WHERE c.relkind = 'r'
    UNION ALL
    SELECT relid::oid FROM pg_partition_tree(c.oid) WHERE isleaf) AS leaf
LEFT JOIN pg_stat_all_tables AS s ON s.relid = leaf.oid
WHERE c.relnamespace = to_regnamespace(%(schema)s) AND c.relkind IN ('r', 'p')
    AND NOT c.relispartition
GROUP BY c.relname ORDER BY 2 DESC, 1;

-- name: indexes
SELECT i.relname::text, t.relname::text, sum(pg_relation_size(leaf.oid))::bigint,
    coalesce(sum(s.idx_scan), 0)::bigint
FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid JOIN pg_class AS t ON t.oid = x.indrelid
CROSS JOIN LATERAL (
    SELECT i.oid WHERE i.relkind = 'i'
    UNION ALL
    SELECT relid::oid FROM pg_partition_tree(i.oid) WHERE i.relkind = 'I' AND isleaf) AS leaf
LEFT JOIN pg_stat_all_indexes AS s ON s.indexrelid = leaf.oid
WHERE i.relnamespace = to_regnamespace(%(schema)s) AND NOT i.relispartition
GROUP BY i.relname, t.relname ORDER BY 3 DESC, 1;

-- name: connections
-- Of all databases, because the limit is the server's.
SELECT count(*) FILTER (WHERE datname = current_database()),
    count(*) FILTER (WHERE datname = current_database() AND state = 'active'),
    count(*) FILTER (WHERE datname = current_database() AND state LIKE 'idle in transaction%%'),
    count(*), current_setting('max_connections')::int
FROM pg_stat_activity WHERE backend_type = 'client backend';

-- name: replicas
-- Seconds are those that the replica itself reports; none while it has nothing to catch up with.
SELECT coalesce(nullif(application_name, ''), client_addr::text, pid::text), state, sync_state,
    pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint,
    extract(epoch FROM replay_lag)::double precision
FROM pg_stat_replication ORDER BY 1;

-- name: behind
-- On a replica: what it has received of its primary's log and not yet replayed.
SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())::bigint;

-- name: leaves
-- What holds rows, table by table: a partitioned table itself holds none.
SELECT format('%%I.%%I', n.nspname, c.relname), c.relname::text
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s AND c.relkind = 'r' ORDER BY c.relname;

-- name: size
SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
WHERE relnamespace = to_regnamespace(%(schema)s) AND relkind = 'r';

-- name: open_transactions
-- Those that may still need rows which others have deleted: no vacuum takes these away.
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
    AND pid <> pg_backend_pid() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
    AND backend_type = 'client backend';
