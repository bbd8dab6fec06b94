package consent_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
)

const (
	dir = "/a/xcsh-ls/team"
	web = "git:github.com/acme/web#"
)

func file(fsys afero.Fs) consent.File {
	return consent.File{Fs: fsys, Dir: dir, Locks: lock.New(fsys, lock.Options{})}
}

// with returns storage whose team.json has a content.
func with(t *testing.T, content string) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fsys, dir+"/team.json", []byte(content), 0o600))
	return fsys
}

func content(t *testing.T, fsys afero.Fs) string {
	t.Helper()
	b, err := afero.ReadFile(fsys, dir+"/team.json")
	require.NoError(t, err)
	return string(b)
}

// agreed is a decision, and what it is in the file.
var agreed = consent.Project{
	Team: "core", Share: consent.New, Since: "2026-11-22T10:14:00.000Z", Agreed: "Ann, laptop", Visible: consent.Team, Redact: true,
}

const agreedJSON = `{"team":"core","share":"new","since":"2026-11-22T10:14:00.000Z","agreed":"Ann, laptop","visible":"team","redact":true}`

func TestDecisionsAreKept(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fsys afero.Fs) {
		f := consent.File{Fs: fsys, Dir: filepath.Join(t.TempDir(), "team"), Locks: lock.New(fsys, lock.Options{})}
		none, err := f.Read()
		require.NoError(t, err)
		require.Empty(t, none.Projects)
		require.NoError(t, f.Change(
			consent.SetStore("xcsh", ""), consent.SetProject(web, agreed), consent.SetSession("1f9d2a6b9c0d1234", consent.Off),
			consent.SetAlias("name:web", web), consent.SetName("/w", "web"),
		))
		d, err := f.Read()
		require.NoError(t, err)
		require.Equal(t, consent.Decisions{
			Service: "xcsh", Projects: map[string]consent.Project{web: agreed}, Sessions: map[string]consent.Share{"1f9d2a6b9c0d1234": consent.Off},
			Alias: map[string]string{"name:web": web}, Names: map[string]string{"/w": "web"},
		}, d)
		info, err := fsys.Stat(f.Path())
		require.NoError(t, err)
		if runtime.GOOS != "windows" {
			require.Equal(t, "-rw-------", info.Mode().String())
		}
		left, err := afero.ReadDir(fsys, f.Dir)
		require.NoError(t, err)
		require.Len(t, left, 1, "neither locks nor temporary files remain")
	})
}

// Changes keep what other versions wrote, byte for byte.
func TestUnknownKeysAreKept(t *testing.T) {
	t.Parallel()
	const old = "\n{ \"later\" : [1.0, 12345678901234567890, \"\\ud800\"],\n  \"version\": 1, \"projects\": { \"x\": { \"share\": \"weekly\", \"why\": 1e3 } } ,\"service\":\"a\" }\n\n"
	fsys := with(t, old)
	require.NoError(t, file(fsys).Change(consent.SetProject(web, agreed), consent.SetStore("b", "")))
	want := strings.Replace(old, `"why": 1e3 } }`, `"why": 1e3 } ,"`+web+`":`+agreedJSON+`}`, 1)
	want = strings.Replace(want, `"service":"a"`, `"service":"b"`, 1)
	require.Equal(t, compact(t, want), compact(t, content(t, fsys)))
	require.Contains(t, content(t, fsys), `[1.0, 12345678901234567890, "\ud800"]`)
	require.True(t, strings.HasPrefix(content(t, fsys), "\n{ ") && strings.HasSuffix(content(t, fsys), "}\n\n"))
	before := content(t, fsys)
	require.NoError(t, file(fsys).Change(consent.SetProject("x", consent.Project{Team: "t", Share: consent.Off, Visible: consent.Me, Redact: true})))
	require.Contains(t, content(t, fsys), `"why": 1e3`)
	require.NotEqual(t, before, content(t, fsys))
}

func compact(t *testing.T, v string) string {
	t.Helper()
	require.True(t, json.Valid([]byte(v)), v)
	return strings.Join(strings.Fields(v), "")
}

// A value of another version permits nothing.
func TestUnknownValuesPermitNothing(t *testing.T) {
	t.Parallel()
	d, err := file(with(t, `{"projects":{"`+web+`":{"share":"weekly","visible":"world"}},"sessions":{"a":"later"}}`)).Read()
	require.NoError(t, err)
	require.Equal(t, consent.Project{Share: consent.Off, Visible: consent.Me, Redact: true}, d.Projects[web])
	require.False(t, d.Sends(web, "b", "2030-01-01T00:00:00Z"))
}

func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	const before, after = "2026-11-22T10:13:59.999Z", "2026-11-22T11:14:01.000+01:00"
	for _, c := range []struct {
		share   consent.Share
		session consent.Share
		began   string
		sends   bool
	}{
		{consent.New, "", after, true},
		{consent.New, "", agreed.Since, true},
		{consent.New, "", before, false},
		{consent.New, "", "", false},
		{consent.New, "", "tomorrow", false},
		{consent.New, consent.Off, after, false},
		{consent.New, consent.All, before, true},
		{consent.All, "", before, true},
		{consent.All, consent.Off, before, false},
		{consent.Off, "", after, false},
		{consent.Off, consent.All, after, true},
		{"", "", after, false},
	} {
		p := agreed
		p.Share = c.share
		d := consent.Decisions{Projects: map[string]consent.Project{web: p}, Sessions: map[string]consent.Share{"s": c.session}}
		require.Equal(t, c.sends, d.Sends(web, "s", c.began), "%+v", c)
		require.False(t, d.Sends("git:github.com/acme/other#", "s", c.began), "a project that was not agreed to")
	}
	undated := consent.Decisions{Projects: map[string]consent.Project{web: {Share: consent.New}}}
	require.False(t, undated.Sends(web, "s", after))
}

// damagedFiles are contents that permit nothing, and why.
var damagedFiles = map[string]string{
	"":                                   "it is not JSON",
	"{":                                  "it is not JSON",
	`{"projects":{}}{}`:                  "it is not JSON",
	"\x00":                               "it is not JSON",
	"[]":                                 "the whole has another form",
	`{"projects":[]}`:                    "projects has another form",
	`{"projects":{"a":1}}`:               "projects has another form",
	`{"projects":{"a":{"team":1}}}`:      "team has another form",
	`{"projects":{"a":{"redact":"no"}}}`: "redact has another form",
	`{"sessions":{"a":1}}`:               "sessions has another form",
	`{"alias":["a"]}`:                    "alias has another form",
	`{"service":{}}`:                     "service has another form",
	`{"version":"one"}`:                  `"version" is not a version`,
	`{"version":0}`:                      `"version" is not a version`,
}

// A file that cannot be used is one sentence; it permits nothing, and no change touches it.
func TestABadFileLosesNothing(t *testing.T) {
	t.Parallel()
	for bad, why := range damagedFiles {
		fsys := with(t, bad)
		d, err := file(fsys).Read()
		require.Equal(t, fault.Damaged, fault.KindOf(err), bad)
		require.Equal(t, file(fsys).Path()+" cannot be used: "+why+". Repair it, or remove it and share the projects again; until then nothing is sent to the team.", err.Error())
		require.Empty(t, d)
		require.Equal(t, err, file(fsys).Change(consent.SetProject(web, agreed)), bad)
		require.Equal(t, bad, content(t, fsys))
	}
	newer := with(t, `{"version":2,"projects":{"`+web+`":`+agreedJSON+`}}`)
	_, err := file(newer).Read()
	require.Equal(t, fault.NewerVersion, fault.KindOf(err))
	require.Equal(t, file(newer).Path()+" was written by a newer version of xcsh-ls (version 2 of the file). Update this one; until then nothing is sent to the team.", err.Error())
	require.Equal(t, err, file(newer).Change(consent.SetStore("x", "")))
	large := with(t, strings.Repeat(" ", 17<<20)+"{}")
	_, err = file(large).Read()
	require.Equal(t, fault.Damaged, fault.KindOf(err))
	directory := afero.NewMemMapFs()
	require.NoError(t, directory.MkdirAll(dir+"/team.json", 0o700))
	_, err = file(directory).Read()
	require.Equal(t, fault.IO, fault.KindOf(err))
}

// After a failure at any step the file is the old one or the new one, and the next change works.
func TestEveryStepOfAChangeMayFail(t *testing.T) {
	t.Parallel()
	const old = `{"version":1,"service":"a","later":true}`
	for _, mode := range []st.Mode{st.Once, st.Short, st.Dead} {
		for at := 1; ; at++ {
			base := with(t, old)
			fsys := &st.FaultFs{Fs: base, At: at, Mode: mode, Reads: true}
			err := file(fsys).Change(consent.SetStore("b", ""))
			now := content(t, base)
			require.Contains(t, []string{old, strings.Replace(old, `"a"`, `"b"`, 1)}, now)
			if err == nil {
				require.NotEqual(t, old, now, "a change that is not on disk is not reported as one")
			} else {
				require.Contains(t, []fault.Kind{fault.IO, fault.Busy, fault.ReadOnly}, fault.KindOf(err), "%v", err)
			}
			require.NoError(t, file(base).Change(consent.SetStore("c", "")))
			if !fsys.Fired() {
				require.NoError(t, err)
				require.Greater(t, at, 5)
				break
			}
		}
	}
}

// A loss of power leaves the old file or the new one.
func TestDecisionsSurviveALossOfPower(t *testing.T) {
	t.Parallel()
	fsys := st.NewPowerFs()
	f := consent.File{Fs: fsys, Dir: dir, Locks: lock.New(fsys, lock.Options{})}
	require.NoError(t, f.Change(consent.SetProject(web, agreed)))
	for _, loss := range []st.Loss{{}, {Names: true}} {
		after := fsys.After(t, loss)
		d, err := file(after).Read()
		require.NoError(t, err)
		require.Equal(t, agreed, d.Projects[web])
	}
}

// Two servers that record decisions at the same time lose none.
func TestConcurrentChangesAreAllKept(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			_ = file(fsys).Change(consent.SetSession(fmt.Sprint("s", i), consent.Off))
		})
	}
	group.Wait()
	d, err := file(fsys).Read()
	require.NoError(t, err)
	require.Len(t, d.Sessions, 8)
}

// TestRandomChanges compares random changes with a model, in a file with keys of another version at every level.
func TestRandomChanges(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		fsys := with(t, `{"z":{"version":9},"projects":{"k0":{"note":"x"}},"version":1,"alias":{}}`)
		projects, sessions, alias := map[string]consent.Project{"k0": {Share: consent.Off, Visible: consent.Me, Redact: true}}, map[string]consent.Share{}, map[string]string{}
		pick := func(from ...string) string { return from[r.IntN(len(from))] }
		for range 40 {
			key := pick("k0", "k1", `k"\2`, "k\u00e9", "")
			switch r.IntN(3) {
			case 0:
				p := consent.Project{Team: pick("", "a", "\u2028"), Share: consent.Share(pick("off", "new", "all")), Since: "s", Visible: consent.Visible(pick("team", "me")), Redact: r.IntN(2) == 0}
				require.NoError(t, file(fsys).Change(consent.SetProject(key, p)))
				projects[key] = p
			case 1:
				share := consent.Share(pick("off", "all", ""))
				require.NoError(t, file(fsys).Change(consent.SetSession(key, share)))
				sessions[key] = share
			default:
				to := pick("", "x", "y")
				require.NoError(t, file(fsys).Change(consent.SetAlias(key, to)))
				alias[key] = to
			}
			for id, share := range sessions {
				if share == "" {
					delete(sessions, id)
				}
			}
			for from, to := range alias {
				if to == "" {
					delete(alias, from)
				}
			}
			d, err := file(fsys).Read()
			require.NoError(t, err)
			require.Equal(t, projects, d.Projects)
			require.Equal(t, sessions, d.Sessions)
			require.Equal(t, alias, d.Alias)
			require.Contains(t, content(t, fsys), `"z":{"version":9}`)
			require.Contains(t, content(t, fsys), `"note":"x"`)
		}
	}
}

// FuzzFile reads and changes arbitrary files: no panic; a change is made completely or refused without a trace.
func FuzzFile(f *testing.F) {
	for bad := range damagedFiles {
		f.Add([]byte(bad))
	}
	f.Add([]byte(`{"projects":{"` + web + `":` + agreedJSON + `},"projects":{}}`))
	f.Fuzz(func(t *testing.T, old []byte) {
		fsys := with(t, string(old))
		_, readErr := file(fsys).Read()
		err := file(fsys).Change(consent.SetProject(web, agreed), consent.SetSession("s", consent.Off))
		if err != nil {
			require.Error(t, readErr)
			require.Equal(t, string(old), content(t, fsys))
			return
		}
		d, err := file(fsys).Read()
		require.NoError(t, err)
		require.Equal(t, agreed, d.Projects[web])
		require.Equal(t, consent.Off, d.Sessions["s"])
	})
}
