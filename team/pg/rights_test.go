package pg_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
)

// right is a row of the table of rights: a function of the protocol, called with names in braces that
// are replaced.
type right struct {
	call string

	// owner matches the answer that the owner of the session gets.
	owner string

	// reader matches the answer for a member of the team who may only read, about a shared session.
	reader string

	// mate says that a member of the team gets another answer for a hidden session than for a missing
	// one, because the answer is about the project: it must not contain the session.
	mate bool
}

const (
	goneTip = `^\(gone,0,0,"?\\+x"?,0,,0,f\)$`
	none    = `^none$`
)

// rights is the table. A function without a row fails the test.
var rights = map[string]right{
	"hello_v1":   {call: `select display from xcsh.hello_v1({device}, 'label')`, owner: `ann`, reader: `reader`},
	"tip_v1":     {call: `select * from xcsh.tip_v1({sid})`, owner: `^\(ok,1,7,`, reader: `^\(ok,1,7,`},
	"append_v1":  {call: `select * from xcsh.append_v1({sid}, 1, 7, {sum}, 1, {device}, 'x', {sum2})`, owner: `^\(ok,1,8,`, reader: goneTip},
	"lease_v1":   {call: `select * from xcsh.lease_v1({sid}, {device}, true)`, owner: `^\(ok,1,7,`, reader: goneTip},
	"release_v1": {call: `select * from xcsh.release_v1({sid}, {device}, 1)`, owner: `^\((""|)\)$`, reader: `^\((""|)\)$`},
	"follow_v1":  {call: `select * from xcsh.follow_v1(array[{sid}]::uuid[])`, owner: `^\((""|)\)$`, reader: `^\((""|)\)$`},
	"read_v1":    {call: `select * from xcsh.read_v1({sid}, 1, 0, 100)`, owner: `736563726574`, reader: `736563726574`},
	"back_v1":    {call: `select * from xcsh.back_v1({sid}, 1, 100, 100)`, owner: `736563726574`, reader: `736563726574`},
	"sum_v1":     {call: `select * from xcsh.sum_v1({sid}, 1, 100)`, owner: `^\(7,`, reader: `^\(7,`},
	"tips_v1":    {call: `select sid, gen, len from xcsh.tips_v1(array[{sid}]::uuid[], '0')`, owner: `,1,7\)`, reader: `,1,7\)`},
	"fork_v1":    {call: `select * from xcsh.fork_v1({sid}, 1, 7, {new}, 'head', {device})`, owner: `^\(ok,1,7,`, reader: goneTip},
	"stage_v1":   {call: `select * from xcsh.stage_v1({sid}, 2, 0, '', 'x', {sum2})`, owner: `^\(t\)$`, reader: `^\(f\)$`},
	"publish_v1": {call: `select * from xcsh.publish_v1({sid}, 1, 7, {sum}, 2, 0, sha256(''), 1, {device})`, owner: `^\((ok|fenced),`, reader: goneTip},
	"head_v1":    {call: `select * from xcsh.head_v1({sid}, 1, 'head', 'title', 'first', 1, 0)`, owner: `^\(2\)$`, reader: `^\(\)$`},
	"head_of_v1": {call: `select * from xcsh.head_of_v1({sid})`, owner: `secretid`, reader: `sharedid`},
	"said_v1":    {call: `select * from xcsh.said_v1({sid}, 0, 10, array[0], array[0]::smallint[], array['e'], array['text'])`, owner: `^\(1\)$`, reader: `^\(0\)$`},
	"delete_v1":  {call: `select * from xcsh.delete_v1({sid}, false)`, owner: `^\(t\)$`, reader: `^\(f\)$`},
	"compact_v1": {call: `select * from xcsh.compact_v1({sid})`, owner: `^\(0\)$`, reader: `^\(0\)$`},

	"writer_v1": {call: `select * from xcsh.writer_v1({sid})`, owner: `,ann.*,t,\d+\)$`, reader: `,ann.*,f,\d+\)$`},

	"teams_v1":    {call: `select * from xcsh.teams_v1()`, owner: `^\(core,2,3\)$`, reader: `^\(core,1,3\)$`},
	"project_v1":  {call: `select * from xcsh.project_v1({team}, 'name:web', 'Web')`, owner: `^\(\d+\)$`, reader: `^\(\d+\)$`},
	"open_v1":     {call: `select * from xcsh.open_v1({project}, {new}, {header}, 0::smallint, 'x.jsonl', 'head', now(), 1::smallint, 'title')`, owner: `,0,0,`, reader: `,0,1,`, mate: true},
	"list_v1":     {call: `select header_id from xcsh.list_v1({project}, null, null, 100)`, owner: `secretid`, reader: `sharedid`, mate: true},
	"projects_v1": {call: `select key from xcsh.projects_v1()`, owner: `name:web`, reader: `name:web`},
	"mine_v1":     {call: `select header_id from xcsh.mine_v1(null, null, 100)`, owner: `secretid`, reader: none},
	"infos_v1":    {call: `select header_id from xcsh.infos_v1(array[{sid}]::uuid[])`, owner: `secretid`, reader: `sharedid`},
	"changes_v1":  {call: `select (info).header_id from xcsh.changes_v1({project}, '0')`, owner: `secretid`, reader: `sharedid`, mate: true},
	"search_v1":   {call: `select sid, body from (select sid, excerpt as body from xcsh.search_v1(array[{project}], 'needle', 10)) x`, owner: `secret`, reader: `shared`, mate: true},
	"lacks_v1":    {call: `select * from xcsh.lacks_v1({project}, {sid}, array[sha256('image of secretid')])`, owner: none, reader: `x`},
	"put_blob_v1": {call: `select * from xcsh.put_blob_v1({project}, {sid}, 'new')`, owner: `x`, reader: `^\(\)$`},
	"blob_v1":     {call: `select * from xcsh.blob_v1({project}, sha256('image of {header}'))`, owner: `x`, reader: `x`},
	"purge_v1":    {call: `select * from xcsh.purge_v1({project}, true)`, owner: `^\(0\)$`, reader: `^\(0\)$`},

	"person_v1": {call: `select * from xcsh.person_v1({role}, 'renamed')`, owner: `^\(\)$`, reader: `^\(\)$`},
	"team_v1":   {call: `select * from xcsh.team_v1({team})`, owner: `42501`, reader: `42501`},
	"grant_v1":  {call: `select * from xcsh.grant_v1({team}, {role}, 3::smallint)`, owner: `^\(f\)$`, reader: `^\(f\)$`},
}

// rightsWorld has a private and a shared session of ann, with bytes, texts and images.
type rightsWorld struct {
	*world
	project         int
	private, shared team.SID
	device          team.DeviceID
}

func newRightsWorld(t *testing.T) *rightsWorld {
	t.Helper()
	d := pgtest.New(t)
	w := &rightsWorld{world: newWorld(t, d, d.Port()), device: team.NewDeviceID()}
	for user, level := range map[string]int{"ann": 2, "mate": 2, "reader": 1, "leaver": 3} {
		w.Member(t, user, "core", level)
	}
	w.Member(t, "outsider", "other", 3)
	w.Leave(t, "leaver")
	ann := w.Connect(t, "ann")
	_, err := ann.Hello(t.Context(), team.Device{ID: w.device})
	require.NoError(t, err)
	p, err := ann.Project(t.Context(), "core", "name:web", "Web")
	require.NoError(t, err)
	w.project = p.ID
	w.private, w.shared = team.NewSID(), team.NewSID()
	w.fill(t, ann, w.private, "secretid", team.Private)
	w.fill(t, ann, w.shared, "sharedid", team.Shared)
	return w
}

// fill creates a session.
func (w *rightsWorld) fill(t *testing.T, ann team.Store, sid team.SID, id string, visible team.Visibility) {
	t.Helper()
	ctx := t.Context()
	_, err := ann.Open(ctx, team.Opening{Project: w.project, SID: sid, HeaderID: id, Dialect: session.Xcsh, FileName: id + ".jsonl", Head: []byte(id), Visible: visible})
	require.NoError(t, err)
	tip, err := ann.Append(ctx, team.Append{SID: sid, Gen: 1, Sum: team.EmptySum, Bytes: []byte("secret\n"), New: team.SumOf([]byte("secret\n"))})
	require.NoError(t, err)
	require.Equal(t, team.OK, tip.Code)
	require.NoError(t, ann.Said(ctx, sid, 0, 10, []team.Text{{Entry: "e", Body: "needle of " + id}}))
	require.NoError(t, ann.PutBlob(ctx, w.project, sid, []byte("image of "+id)))
}

// call returns the statement of a function about a session, or about missing things only if known is
// false.
func (w *rightsWorld) call(r right, sid team.SID, known bool) string {
	header, name, project, role := "secretid", "core", w.project, "ann_"+w.Name()
	if sid == w.shared {
		header = "sharedid"
	}
	if !known {
		header, name, project, role = "missing", "missing", 999999, "missing"
	}
	sum := func(text string) string { return `decode('` + team.SumOf([]byte(text)).String() + `', 'hex')` }
	call := strings.NewReplacer("'image of {header}'", "'image of "+header+"'").Replace(r.call)
	return strings.NewReplacer(
		"{sid}", "'"+sid.String()+"'::uuid", "{device}", "'"+w.device.String()+"'::uuid", "{new}", "'"+team.NewSID().String()+"'::uuid",
		"{project}", strconv.Itoa(project), "{team}", "'"+name+"'", "{role}", "'"+role+"'", "{header}", "'"+header+"'",
		"{sum}", sum("secret\n"), "{sum2}", sum("secret\nx"),
	).Replace(call)
}

// answer calls and returns the rows as a text, or the code and message of the error.
func answer(ctx context.Context, conn interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, call string,
) (text string, err error) {
	err = conn.QueryRow(ctx, `select coalesce(string_agg(x::text, ';'), 'none') from (`+call+`) x`).Scan(&text)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code + " " + e.Message, nil
	}
	return text, err
}

// contents returns a checksum of all tables but that of the devices.
func (w *rightsWorld) contents(t *testing.T) string {
	t.Helper()
	var parts []string
	for _, table := range []string{"meta", "person", "team", "member", "project", "session", "tip", "segment", "said", "blob", "session_blob", "artifact", "audit"} {
		parts = append(parts, `(select md5(coalesce(string_agg(x::text, ';' order by x::text), '')) from xcsh.`+table+` x)`)
	}
	return pgtest.Value[string](t, w.Database, `select concat_ws(' ', `+strings.Join(parts, ", ")+`)`)
}

// Proves: TM-48
func TestEveryFunctionHasARowInTheTableOfRights(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	names := pgtest.Value[[]string](t, d, `select array_agg(proname::text) from pg_proc
		where pronamespace = 'xcsh'::regnamespace and has_function_privilege('xcsh_member', oid, 'execute')`)
	require.Greater(t, len(names), 25)
	seen := map[string]bool{}
	for _, name := range names {
		require.False(t, seen[name], "%s is overloaded: the table has one row for a name", name)
		seen[name] = true
		if name == "me" || name == "projects" { // for the policies; they return the caller's own numbers
			continue
		}
		require.Contains(t, rights, name, "Add a row for it.")
	}
	for name := range rights {
		require.True(t, seen[name], "%s does not exist", name)
	}
	all := pgtest.Value[[]string](t, d, `select array_agg(proname::text) from pg_proc where pronamespace = 'xcsh'::regnamespace and proname ~ '_v\d+$'`)
	for _, name := range all {
		require.True(t, seen[name], "members cannot call %s", name)
	}
}

func TestStrangersMayCallNothing(t *testing.T) {
	t.Parallel()
	w := newRightsWorld(t)
	conn := w.Database.Connect(t, w.Role(t, "stranger", false))
	before := w.contents(t)
	for name, r := range rights {
		got, err := answer(t.Context(), conn, w.call(r, w.shared, true))
		require.NoError(t, err, name)
		require.Equal(t, "42501 permission denied for schema xcsh", got, name)
	}
	for _, table := range []string{"session", "tip", "segment", "said", "blob", "person", "meta", "info"} {
		for _, role := range []string{"stranger", "mate"} {
			got, err := answer(t.Context(), w.Database.Connect(t, w.Role(t, role, role == "mate")), `select * from xcsh.`+table)
			require.NoError(t, err)
			require.Contains(t, got, "42501 permission denied", table)
		}
	}
	require.Equal(t, before, w.contents(t))
}

// Users without rights get the same answers for existing and missing sessions and projects, and change
// nothing.
func TestOthersCannotTellHiddenFromMissing(t *testing.T) {
	t.Parallel()
	w := newRightsWorld(t)
	before := w.contents(t)
	for _, user := range []string{"unknown", "outsider", "leaver"} {
		conn := w.Database.Connect(t, w.Role(t, user, true))
		for name, r := range rights {
			for _, sid := range []team.SID{w.private, w.shared} {
				hidden, err := answer(t.Context(), conn, w.call(r, sid, true))
				require.NoError(t, err, name)
				missing, err := answer(t.Context(), conn, w.call(r, team.NewSID(), false))
				require.NoError(t, err, name)
				if name == "person_v1" { // an administrator of another team adds the role, and gets its number
					continue
				}
				require.Equal(t, missing, hidden, "%s as %s", name, user)
				require.NotContains(t, hidden, "secret", "%s as %s", name, user)
			}
		}
	}
	w.Exec(t, `delete from xcsh.person where role = 'missing'`) // added by outsider, who administers another team
	require.Equal(t, before, w.contents(t))
}

// A member of the team gets the same answers for another member's private session and a missing one.
func TestAPrivateSessionIsHiddenFromTheTeam(t *testing.T) {
	t.Parallel()
	w := newRightsWorld(t)
	before := w.contents(t)
	conn := w.Database.Connect(t, w.Role(t, "mate", true))
	for name, r := range rights {
		if name == "open_v1" { // creates a variant for the same id
			continue
		}
		hidden, err := answer(t.Context(), conn, w.call(r, w.private, true))
		require.NoError(t, err, name)
		require.NotContains(t, hidden, "secretid", name)
		require.NotContains(t, hidden, w.private.String(), name)
		require.NotContains(t, hidden, "736563726574", name)
		if !r.mate {
			missing, err := answer(t.Context(), conn, w.call(r, team.NewSID(), true))
			require.NoError(t, err, name)
			require.Equal(t, missing, hidden, name)
		}
	}
	require.Equal(t, before, withoutPurges(t, w), "no call changed a session")
	opened, err := answer(t.Context(), conn, w.call(rights["open_v1"], w.private, true))
	require.NoError(t, err)
	require.Regexp(t, `,1,1,\d+\)$`, opened, "a variant of their own")
}

// withoutPurges returns the contents without the audit lines of purges that found nothing.
func withoutPurges(t *testing.T, w *rightsWorld) string {
	t.Helper()
	w.Exec(t, `delete from xcsh.audit where what = 'purge' and detail is null`)
	return w.contents(t)
}

func TestAReaderOnlyReads(t *testing.T) {
	t.Parallel()
	w := newRightsWorld(t)
	before := w.contents(t)
	conn := w.Database.Connect(t, w.Role(t, "reader", true))
	for name, r := range rights {
		if name == "follow_v1" { // marks the session as followed
			continue
		}
		got, err := answer(t.Context(), conn, w.call(r, w.shared, true))
		require.NoError(t, err, name)
		require.Regexp(t, r.reader, got, name)
	}
	require.Equal(t, before, w.contents(t))
}

// The owner's answers show that the calls of the table are valid.
func TestTheOwnerMay(t *testing.T) {
	t.Parallel()
	w := newRightsWorld(t)
	conn := w.Database.Connect(t, w.Role(t, "ann", true))
	for name, r := range rights {
		tx, err := conn.Begin(t.Context())
		require.NoError(t, err)
		got, err := answer(t.Context(), tx, w.call(r, w.private, true))
		require.NoError(t, err, name)
		require.Regexp(t, r.owner, got, name)
		require.NoError(t, tx.Rollback(t.Context()))
	}
}
