package pg

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team/pg/wire"
)

// Finding is a result of a check.
type Finding struct {
	Check  string // a short name: "rights", "policies", "bodies", "upgrade"
	Detail string // one sentence: the problem, and what to do
}

// check is a query for problems: each row is the sentence of a finding.
type check struct {
	name  string
	owner bool // the query reads tables, for which it needs the role xcsh_owner
	sql   string
}

// checks are the queries of [Doctor]. The first ones read only the catalog of the server.
var checks = []check{
	{"rights", false, `
		select format('The function %s can be called by every role of the server. Revoke it from PUBLIC.', p.oid::regprocedure)
		  from pg_proc p where p.pronamespace = 'xcsh'::regnamespace
		   and (p.proacl is null or exists (select from aclexplode(p.proacl) a where a.grantee = 0)) order by 1`},
	{"rights", false, `
		select format('The function %s runs as the owner of the tables without a fixed search_path.', p.oid::regprocedure)
		  from pg_proc p where p.pronamespace = 'xcsh'::regnamespace and p.prosecdef
		   and not coalesce(p.proconfig && array['search_path=xcsh, pg_temp'], false) order by 1`},
	{"rights", false, `
		select format('The role %s can use the table %s directly. Revoke it.', a.grantee::regrole, c.relname)
		  from pg_class c, aclexplode(c.relacl) a where c.relnamespace = 'xcsh'::regnamespace and c.relkind in ('r', 'p', 'v')
		   and a.grantee <> c.relowner order by 1`},
	{"rights", false, `
		select 'Members can create objects in the schema xcsh. Revoke it.'
		  from pg_namespace n, aclexplode(n.nspacl) a where n.nspname = 'xcsh' and a.privilege_type = 'CREATE' and a.grantee <> n.nspowner`},
	{"policies", false, `
		select format('Row-level security of the table %s is off. Enable it.', relname)
		  from pg_class where relnamespace = 'xcsh'::regnamespace
		   and (relname = any ('{session,tip,segment,said,blob,session_blob,artifact}') and not relrowsecurity
		     or relname = any ('{session,blob,artifact}') and not relforcerowsecurity) order by 1`},
	{"policies", false, `
		select format('The role %s is a superuser or bypasses row-level security. Change that: it owns the tables.', rolname)
		  from pg_roles where rolname = 'xcsh_owner' and (rolsuper or rolbypassrls or rolcanlogin)`},
	{"bodies", true, `
		select format('The body of the session %s ends at byte %s, but its segments don''t. A pull of it fails; push it again from a machine that has the file.', t.sid, t.len)
		  from xcsh.tip t where t.len > 0
		   and not exists (select from xcsh.segment s where s.sid = t.sid and s.gen = t.gen and s.off < t.len and s.off + s.n = t.len and s.sum = t.sum) order by 1 limit 100`},
	{"bodies", true, `
		select format('The segments of the session %s have a gap or overlap at byte %s. A pull of it fails there; push it again from a machine that has the file.', sid, off)
		  from (select s.sid, s.off, lag(s.off + s.n, 1, 0::bigint) over (partition by s.sid order by s.off) as was
		          from xcsh.segment s join xcsh.tip t on t.sid = s.sid and t.gen = s.gen) x where off <> was order by 1 limit 100`},
	{"upgrade", true, `
		select format('The store has version %s of the tables. Bring it to a newer one with: xcsh-ls team init --upgrade', version) from xcsh.meta where version < $1`},
}

// Doctor checks the rights and policies of a store and, if the user has the role xcsh_owner, the bodies
// of all sessions. It changes nothing. all reports whether every check ran.
func Doctor(ctx context.Context, c Config) (found []Finding, all bool, err error) {
	all = true
	err = c.connected(ctx, func(ctx context.Context, conn *wire.Conn) error {
		// The end of the connection ends the transaction, which read only.
		if err := conn.Run(ctx, `begin isolation level repeatable read read only`); err != nil {
			return err
		}
		for _, check := range checks {
			if check.owner && all {
				if all, err = owns(ctx, conn); err != nil {
					return err
				}
			}
			if check.owner && !all {
				continue
			}
			sentences, err := check.run(ctx, conn)
			if err != nil {
				return err
			}
			for _, s := range sentences {
				found = append(found, Finding{check.name, fault.OneLine(s)})
			}
		}
		return nil
	})
	return found, all, err
}

// owns takes the role of the owner in the transaction, if the user has it.
func owns(ctx context.Context, conn *wire.Conn) (ok bool, err error) {
	if err := conn.Row(ctx, []any{&ok}, `select pg_has_role('xcsh_owner', 'member')`); err != nil || !ok {
		return false, err
	}
	return true, conn.Run(ctx, `set local role xcsh_owner`)
}

// run returns the sentences of the problems.
func (c check) run(ctx context.Context, conn *wire.Conn) (sentences []string, err error) {
	var args []any
	if c.name == "upgrade" {
		args = []any{1 + len(steps)}
	}
	err = conn.Rows(ctx, func(row wire.Row) error {
		var s string
		if err := row.Scan(&s); err != nil {
			return err
		}
		sentences = append(sentences, s)
		return nil
	}, c.sql, args...)
	return sentences, err
}
