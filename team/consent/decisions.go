package consent

import (
	"bytes"
	"strconv"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Share is which sessions of a project are sent.
type Share string

// The values of Share. Any other value counts as Off: it may be one of a newer version.
const (
	Off Share = "off"
	New Share = "new" // those that begin after Since, or were pulled from the store
	All Share = "all"
)

// Visible is who can read the sessions of a project.
type Visible string

// The values of Visible. Any other value counts as Me.
const (
	Team Visible = "team"
	Me   Visible = "me"
)

// Project is the decision about one project.
type Project struct {
	Team    string
	Share   Share
	Since   string // when it was made, as in a header
	Agreed  string // by whom and where: "Ann, laptop"
	Visible Visible
	Redact  bool // secrets are replaced; true unless the file says false
}

// Decisions are the content of team.json. The zero value permits nothing.
type Decisions struct {
	Service  string             // a name in the service file of PostgreSQL
	URL      string             // an address without a password
	StoreID  string             // of the store that the user agreed to; "" for the first one that is met
	Epoch    int                // of this store when it was used last
	Projects map[string]Project // by key
	Sessions map[string]Share   // by the id of the header: Off, All for one that is sent all the same, or New for one that was pulled
	Alias    map[string]string  // from a key to the key of the same project
	Names    map[string]string  // from the root of a project without a remote to its name
}

// Sends reports whether a session of a project is sent. began is the time in its header.
func (d Decisions) Sends(key, headerID, began string) bool {
	p, known := d.Projects[key]
	if !known {
		return false
	}
	switch d.Sessions[headerID] {
	case Off:
		return false
	case All:
		return true
	case New:
		return p.Share == New || p.Share == All
	}
	switch p.Share {
	case All:
		return true
	case New:
		return isAfter(began, p.Since)
	}
	return false
}

// Shares reports whether any session may be sent.
func (d Decisions) Shares() bool {
	for _, p := range d.Projects {
		if p.Share != Off {
			return true
		}
	}
	for _, share := range d.Sessions {
		if share == All && len(d.Projects) > 0 {
			return true
		}
	}
	return false
}

// read views content, which is one JSON value. It returns the name of a member that has another form than this version writes.
func read(content []byte) (d Decisions, wrong string) {
	if rawjson.Kind(content) != '{' {
		return Decisions{}, "the whole"
	}
	r := reader{}
	d.Service = r.text(content, "service")
	d.URL = r.text(content, "url")
	d.StoreID = r.text(content, "storeId")
	d.Epoch = r.number(content, "epoch")
	d.Projects = map[string]Project{}
	r.each(content, "projects", func(key string, v []byte) {
		if rawjson.Kind(v) != '{' {
			r.wrong = "projects"
			return
		}
		d.Projects[key] = r.project(v)
	})
	d.Sessions = map[string]Share{}
	r.texts(content, "sessions", func(id, share string) { d.Sessions[id] = known(Share(share)) })
	d.Alias = map[string]string{}
	r.texts(content, "alias", func(from, to string) { d.Alias[from] = to })
	d.Names = map[string]string{}
	r.texts(content, "names", func(root, name string) { d.Names[root] = name })
	if r.wrong != "" {
		return Decisions{}, r.wrong
	}
	return d, ""
}

// known returns share, or Off for a value of another version.
func known(share Share) Share {
	if share == New || share == All {
		return share
	}
	return Off
}

// reader reads members and records the last one that has a wrong form.
type reader struct{ wrong string }

func (r *reader) project(v []byte) Project {
	p := Project{
		Team: r.text(v, "team"), Share: known(Share(r.text(v, "share"))), Since: r.text(v, "since"),
		Agreed: r.text(v, "agreed"), Visible: Visible(r.text(v, "visible")), Redact: true,
	}
	if p.Visible != Team {
		p.Visible = Me
	}
	switch redact := rawjson.Get(v, "redact"); string(redact) {
	case "", "true":
	case "false":
		p.Redact = false
	default:
		r.wrong = "redact"
	}
	return p
}

func (r *reader) text(v []byte, name string) string {
	value := rawjson.Get(v, name)
	if value == nil {
		return ""
	}
	s, ok := rawjson.String(value)
	if !ok {
		r.wrong = name
	}
	return s
}

func (r *reader) number(v []byte, name string) int {
	value := rawjson.Get(v, name)
	if value == nil {
		return 0
	}
	n, ok := rawjson.Float(value)
	if !ok || n != float64(int(n)) {
		r.wrong = name
	}
	return int(n)
}

// each calls f with the members of the object called name.
func (r *reader) each(v []byte, name string, f func(key string, v []byte)) {
	object := rawjson.Get(v, name)
	if object == nil {
		return
	}
	if rawjson.Kind(object) != '{' {
		r.wrong = name
		return
	}
	rawjson.Members(object, func(key, value []byte) bool {
		text, _ := rawjson.String(key)
		f(text, value)
		return true
	})
}

func (r *reader) texts(v []byte, name string, f func(key, value string)) {
	r.each(v, name, func(key string, value []byte) {
		text, ok := rawjson.String(value)
		if !ok {
			r.wrong = name
			return
		}
		f(key, text)
	})
}

// Change is a change of team.json: content to content.
type Change func(content []byte) []byte

// SetProject records the decision about a project.
func SetProject(key string, p Project) Change {
	return func(content []byte) []byte {
		return within(content, "projects", func(projects []byte) []byte {
			return within(projects, key, func(v []byte) []byte {
				v = rawjson.SetString(v, "team", p.Team)
				v = rawjson.SetString(v, "share", string(p.Share))
				v = rawjson.SetString(v, "since", p.Since)
				v = rawjson.SetString(v, "agreed", p.Agreed)
				v = rawjson.SetString(v, "visible", string(p.Visible))
				redact := "true"
				if !p.Redact {
					redact = "false"
				}
				return rawjson.Set(v, "redact", []byte(redact))
			})
		})
	}
}

// SetSession records the decision about one session; "" removes it.
func SetSession(headerID string, share Share) Change {
	return setIn("sessions", headerID, string(share))
}

// SetAlias makes a key mean another one; "" ends that.
func SetAlias(from, to string) Change { return setIn("alias", from, to) }

// SetName names the project at root; "" removes the name.
func SetName(root, name string) Change { return setIn("names", root, name) }

// SetStore records where the store is: the name of a service, or an address without a password.
func SetStore(service, url string) Change {
	return func(content []byte) []byte {
		return set(set(content, "service", service), "url", url)
	}
}

// SetStoreID records the store that the user agreed to, and its epoch.
func SetStoreID(id string, epoch int) Change {
	return func(content []byte) []byte {
		return rawjson.Set(set(content, "storeId", id), "epoch", []byte(strconv.Itoa(epoch)))
	}
}

func setIn(object, key, value string) Change {
	return func(content []byte) []byte {
		return within(content, object, func(v []byte) []byte { return set(v, key, value) })
	}
}

// set sets a text; an empty one removes the member.
func set(v []byte, key, value string) []byte {
	if value == "" {
		return rawjson.Delete(v, key)
	}
	return rawjson.SetString(v, key, value)
}

// within changes the object called name, which is made if it is missing.
func within(v []byte, name string, change func([]byte) []byte) []byte {
	object := rawjson.Get(v, name)
	if object == nil {
		object = []byte("{}")
	}
	changed := change(bytes.Clone(object))
	if bytes.Equal(changed, object) {
		return v
	}
	return rawjson.Set(v, name, changed)
}
