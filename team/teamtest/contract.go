package teamtest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// Login is a store as one user sees it.
type Login interface {
	team.Store
	team.Follower
	team.Upkeep
}

// World is a store that [Contract] tests, from the side of its administrator.
type World interface {
	// Member gives a user a level in a team: 1 reads, 2 writes, 3 administers, 0 is no member. It adds
	// the user and the team if necessary.
	Member(t testing.TB, user, team string, level int)
	// Leave marks a user as gone.
	Leave(t testing.TB, user string)
	// Connect returns the store as the user sees it, before Hello. The user need not be known.
	Connect(t testing.TB, user string) Login
	// Advance moves the clock of the store.
	Advance(t testing.TB, d time.Duration)
}

// Contract runs stories about stores in a world, one after the other: the named ones, or all.
func Contract(t *testing.T, w World, names ...string) {
	stories := []struct {
		name string
		tell func(*scene)
	}{
		{"hello describes the store", helloDescribes},
		{"hello refuses strangers and users who left", helloRefuses},
		{"long labels of devices are cut", labelsAreCut},
		{"teams have levels and readers", teamsOfUser},
		{"a project is created once, by a writer", projectOnce},
		{"a session is created once", openOnce},
		{"eight devices open a session at once", openAtOnce},
		{"a deleted session is not created again", openDeleted},
		{"a reader opens existing sessions only", openReader},
		{"hostile names of files and ids are refused", openHostile},
		{"a private session looks like a missing one", privateIsHidden},
		{"the id of a hidden session gets a variant", hiddenIDGetsVariant},
		{"an append grows the body and takes the lease", appendGrows},
		{"a repeated append is the same", appendSame},
		{"each difference has its code", appendCodes},
		{"an empty append is refused and does no harm", appendEmpty},
		{"bytes stay as they are", bytesAreExact},
		{"eight equal appends at once count once", appendAtOnce},
		{"of eight different appends at once one wins", appendRace},
		{"a lease excludes other devices for 30 seconds", leaseExcludes},
		{"an append extends the lease", appendExtends},
		{"a lease is busy, renewed, forced and released", leaseLife},
		{"a writer has a name", writerHasName},
		{"a device that wakes up is fenced", sleeperIsFenced},
		{"a read begins with the segment and ends after enough bytes", readPart},
		{"an error of the callback ends the read", readError},
		{"a body is read from its end", readBack},
		{"sums are those of segment ends", sumAtEnds},
		{"compaction changes neither bytes nor sums", compactKeeps},
		{"a fork shares a beginning", forkShares},
		{"a repeated fork is one fork", forkOnce},
		{"a fork needs the end of a segment", forkAtEnd},
		{"a generation replaces the body at once", generationReplaces},
		{"publishing compares", publishCompares},
		{"pieces of two devices do not mix", stagingDoesNotMix},
		{"a head is compared by its revision", headRevision},
		{"texts are stored as PostgreSQL accepts them", plainTexts},
		{"a list has pages", listPages},
		{"a list shows the writer", listWriter},
		{"a user lists their own sessions of all projects", mineOfAllProjects},
		{"sessions are described by their ids", infosByID},
		{"a user lists the projects of their teams", projectsOfTeams},
		{"changes have no gaps below eight writers", changesWithoutGaps},
		{"changes show deletions", changesOfDeletion},
		{"tips change with every append", tipsChange},
		{"a follower makes writers notify", followerIsHeard},
		{"notifications wake the listeners", earWakes},
		{"texts are found and replaced", searchFinds},
		{"a search sees no hidden text", searchHides},
		{"an image is stored once and named by many", blobsAreShared},
		{"an image of a hidden session cannot be read", blobsAreHidden},
		{"a session is deleted and restored", deleteAndRestore},
		{"only owners and administrators delete", deleteRights},
		{"a purge destroys old trash", purgeDestroys},
		{"a closed store is offline, an ended context cancels", closedAndCancelled},
		{"a member of another team sees nothing", otherTeam},
		{"a reader changes nothing", readerChangesNothing},
	}
	ran := 0
	for _, story := range stories {
		if len(names) > 0 && !slices.Contains(names, story.name) {
			continue
		}
		ran++
		t.Run(story.name, func(t *testing.T) { story.tell(newScene(t, w)) })
	}
	require.True(t, ran == len(names) || len(names) == 0, "a story is missing")
}

// scene is the beginning of a story: a team with the writer ann and the writer kim, and a project.
type scene struct {
	*testing.T
	World

	team    string
	project int
	ann     Login
	kim     Login
}

// scenes numbers the teams of a world.
var scenes atomic.Int64

func newScene(t *testing.T, w World) *scene {
	t.Helper()
	s := &scene{T: t, World: w, team: fmt.Sprintf("team-%d", scenes.Add(1))}
	s.ann = s.login("ann", 2)
	s.kim = s.login("kim", 2)
	s.project = s.projectOf(s.ann)
	return s
}

// login makes a user a member of the story's team, and connects a new device of theirs.
func (s *scene) login(user string, level int) Login {
	s.Helper()
	s.Member(s, user, s.team, level)
	return s.device(user)
}

// device connects another device of a user.
func (s *scene) device(user string) Login {
	s.Helper()
	l := s.connect(user)
	_, err := l.Hello(s.Context(), team.Device{ID: team.NewDeviceID(), Label: "laptop of " + user})
	require.NoError(s, err)
	return l
}

// connect connects a user without Hello.
func (s *scene) connect(user string) Login {
	s.Helper()
	l := s.Connect(s, user)
	s.Cleanup(func() { require.NoError(s, l.Close()) })
	return l
}

func (s *scene) projectOf(l Login) int {
	s.Helper()
	p, err := l.Project(s.Context(), s.team, "name:web", "Web")
	require.NoError(s, err)
	return p.ID
}

// opening describes a session with a header id.
func (s *scene) opening(id string) team.Opening {
	return team.Opening{
		Project: s.project, SID: team.NewSID(), HeaderID: id, Dialect: session.Pi, FileName: "2026-01-01_" + id + ".jsonl",
		Head: []byte(`{"type":"session","id":"` + id + `"}` + "\n"), Created: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Visible: team.Shared, Title: "Title of " + id,
	}
}

// open creates a session.
func (s *scene) open(l Login, id string, visible team.Visibility) team.SID {
	s.Helper()
	o := s.opening(id)
	o.Visible = visible
	known, err := l.Open(s.Context(), o)
	require.NoError(s, err)
	require.NotEmpty(s, known)
	return known[len(known)-1].SID
}

// tip returns the state of a session.
func (s *scene) tip(l Login, sid team.SID) team.Tip {
	s.Helper()
	t, err := l.Tip(s.Context(), sid)
	require.NoError(s, err)
	return t
}

// next returns the append of a text behind a tip whose body is was.
func next(sid team.SID, t team.Tip, was, text string) team.Append {
	return team.Append{SID: sid, Gen: t.Gen, Len: t.Len, Sum: t.Sum, Fence: t.Fence, Bytes: []byte(text), New: sumOf(was + text)}
}

func sumOf(text string) team.Sum { return sha256.Sum256([]byte(text)) }

// try appends and returns the answer.
func (s *scene) try(l Login, a team.Append) team.Tip {
	s.Helper()
	t, err := l.Append(s.Context(), a)
	require.NoError(s, err)
	return t
}

// push appends texts to a session whose body is was, each as a segment, and returns the body.
func (s *scene) push(l Login, sid team.SID, was string, texts ...string) string {
	s.Helper()
	for _, text := range texts {
		t := s.try(l, next(sid, s.tip(l, sid), was, text))
		require.Equal(s, team.OK, t.Code)
		was += text
		require.Equal(s, int64(len(was)), t.Len)
		require.Equal(s, sumOf(was), t.Sum)
	}
	return was
}

// body reads a generation completely, and compares every sum.
func (s *scene) body(l Login, sid team.SID, gen int) string {
	s.Helper()
	var body []byte
	require.NoError(s, l.Read(s.Context(), sid, gen, 0, 1<<30, func(seg team.Segment) error {
		require.Equal(s, int64(len(body)), seg.Off)
		body = append(body, seg.Bytes...)
		require.Equal(s, team.SumOf(body), seg.Sum)
		require.Zero(s, seg.Codec)
		return nil
	}))
	return string(body)
}

// requireKind requires an error of a kind with a sentence.
func (s *scene) requireKind(kind fault.Kind, err error) {
	s.Helper()
	require.Error(s, err)
	require.Equal(s, kind, fault.KindOf(err), err.Error())
	require.Regexp(s, `[.]$|team grant`, err.Error())
}

// requireGone requires the answer for a missing session, which contains nothing else.
func (s *scene) requireGone(t team.Tip, err error) {
	s.Helper()
	require.NoError(s, err)
	require.Equal(s, team.Tip{Code: team.Gone}, t)
}
