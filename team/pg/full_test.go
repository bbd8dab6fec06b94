package pg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// A server without disk space says so, keeps what it has, and takes the same call when there is space again.
// Proves: TM-11
func TestAFullServerKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	b := newBroken(t)
	sid := b.session(t, "one\n")
	b.Exec(t, `create function public.full() returns trigger language plpgsql as $$ begin raise 'could not extend file: No space left on device' using errcode = '53100'; end $$`)
	b.Exec(t, `create trigger full_ before insert or update on xcsh.segment for each row execute function public.full()`)
	tip, err := b.direct.Tip(t.Context(), sid)
	require.NoError(t, err)
	a := team.Append{SID: sid, Gen: 1, Len: tip.Len, Sum: tip.Sum, Fence: tip.Fence, Bytes: []byte("two\n"), New: team.SumOf([]byte("one\ntwo\n"))}
	_, err = b.direct.Append(t.Context(), a)
	requireKind(t, fault.Offline, err)
	require.ErrorContains(t, err, "is out of disk space.")
	require.Equal(t, "one\n", b.body(t, sid, 1))
	b.Exec(t, `drop trigger full_ on xcsh.segment`)
	tip, err = b.direct.Append(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, team.OK, tip.Code)
	require.Equal(t, "one\ntwo\n", b.body(t, sid, 1))
}
