package team

import "context"

// Store is a place outside this machine that holds sessions. Its answers are those of the functions in
// team/pg/schema.sql, with one method for each. pg.Store implements it over PostgreSQL and
// teamtest.Store in memory; one suite runs over both.
//
// [Store.Hello] comes first: it registers the device in whose name the later calls append, lease and
// fork. All methods are safe for concurrent use. Appends of one session must come from one goroutine
// at a time, else the second is answered Ahead or Fenced.
//
// A session that does not exist, was deleted, or is hidden from the caller is one case, so that an
// answer never reveals a hidden session: the code [Gone] where a method returns a [Tip], a NotFound
// error from Head and Blob, a Denied error from the other methods that write, and no results from the
// other methods that read.
//
// An error is a *fault.Error. Its kinds are Offline (the store cannot be reached; the call may or may
// not have taken effect, and can be repeated), Refused (login, membership, TLS or version; repeating
// does not help), ReadOnly (a replica), Denied, NotFound, Stale, InvalidArgument, Cancelled and
// Internal. Every call may be repeated after an error: it then takes effect once.
type Store interface {
	// Hello registers the device and returns the properties of the store. It returns a Refused error if
	// the user is no member or the store speaks no protocol that this program knows.
	Hello(ctx context.Context, d Device) (Hello, error)
	// Project returns the project of a team with this key and creates it if necessary. It returns a
	// NotFound error if there is no such team, the user is no member of it, or may only read and there
	// is no such project.
	Project(ctx context.Context, team, key, display string) (Project, error)
	// Projects returns the existing projects of the user's teams.
	Projects(ctx context.Context) ([]Project, error)

	// Teams returns the teams of the user, by name.
	Teams(ctx context.Context) ([]Membership, error)

	// Open returns the sessions of the project that have the header id of o, by variant, and creates
	// one if there is none. It returns no sessions if all of them were deleted. It returns a Denied
	// error if it would have to create one and the user may not write to the project.
	Open(ctx context.Context, o Opening) ([]Known, error)
	// Tip returns the state of a session, with the code OK or Gone.
	Tip(ctx context.Context, sid SID) (Tip, error)
	// Append appends to a body, completely or not at all. Code: OK, Same, Fenced, OtherGen, Ahead, Short,
	// Differs or Gone. OK makes the device the writer for 30 seconds. It returns an InvalidArgument
	// error without bytes.
	Append(ctx context.Context, a Append) (Tip, error)
	// Lease makes the device the writer for 30 seconds, or extends this time. Code: OK, Busy or Gone.
	// With force it takes the lease from another device, which the user must have asked for.
	Lease(ctx context.Context, sid SID, force bool) (Tip, error)
	// Release gives the lease back. It does nothing if the device doesn't have it with this fence.
	Release(ctx context.Context, sid SID, fence int64) error

	// Writer returns the device that has the lease, also after it ran out, and its user. It is the zero Writer without one, or if the
	// session is missing or hidden. Members can act in the name of each other's devices, so that it is good for messages only.
	Writer(ctx context.Context, sid SID) (Writer, error)

	// Read passes segments to each in order, beginning with the segment that contains the offset from,
	// until at least most bytes were passed or the body ends. An error of each ends the call and is
	// returned. Read verifies nothing: the caller compares the sums.
	Read(ctx context.Context, sid SID, gen int, from int64, most int, each func(Segment) error) error
	// Back passes the segments that begin before the offset before, from the last one backwards, until
	// at least most bytes were passed. Their Sum is not set.
	Back(ctx context.Context, sid SID, gen int, before int64, most int, each func(Segment) error) error
	// SumAt returns the end of the last segment that ends at or before the offset at, and the sum up to
	// there. Without such a segment they are 0 and EmptySum.
	SumAt(ctx context.Context, sid SID, gen int, at int64) (int64, Sum, error)

	// Fork creates a variant that shares the beginning of another session's body. Code: OK, Differs (no
	// segment ends at At) or Gone. A repeated call with the same New answers OK and changes nothing.
	Fork(ctx context.Context, f Forking) (Tip, error)
	// Stage puts a piece of the body of a later generation beside the published one. A piece at offset
	// 0 discards earlier pieces of this generation, and every other piece must continue the pieces
	// before it: it returns a Stale error if the staged body does not end with Was at Off.
	Stage(ctx context.Context, s Stage) error
	// Publish replaces the body by a staged generation. Code: OK, Same, Fenced, Differs (the published
	// body is not the expected one, or the staged one is incomplete) or Gone.
	Publish(ctx context.Context, p Publish) (Tip, error)

	// Head returns the head of a session.
	Head(ctx context.Context, sid SID) (Head, error)
	// SetHead replaces the head and what lists show, if Rev is the current revision, and returns the
	// new one, which differs from Rev if Bytes differ. Otherwise it returns a Stale error.
	SetHead(ctx context.Context, sid SID, h Head) (rev int, err error)

	// List returns a page of the sessions of a project that are not deleted, the latest modified first.
	List(ctx context.Context, q ListQuery) ([]Info, error)
	// Mine returns a page of the user's own sessions of all projects, deleted ones included, the latest
	// modified first. It ignores the project of q.
	Mine(ctx context.Context, q ListQuery) ([]Info, error)
	// Infos returns those of the sessions that are not deleted, in no order.
	Infos(ctx context.Context, sids []SID) ([]Info, error)
	// Changes returns the sessions of a project that changed since the cursor, deleted ones included,
	// and the next cursor. It misses no change and may return one twice. The zero Cursor is before all
	// changes. An append counts as a change at most once a minute.
	Changes(ctx context.Context, project int, since Cursor) ([]Info, Cursor, error)

	// Said files the texts of the body between the offsets from and to for the search, in place of the
	// texts that were filed for this range. The title, which is not in the body, has [TitleOff].
	Said(ctx context.Context, sid SID, from, to int64, t []Text) error
	// Search returns filed texts of the projects that contain all words of the query, or match it in the
	// syntax of web searches. Sessions that were modified last come first.
	Search(ctx context.Context, projects []int, query string, limit int) ([]Hit, error)

	// Lacks records that the session names the images with these hashes, and returns the hashes that it
	// couldn't record, because no session of the project that the user can see names them. The caller
	// stores those with PutBlob.
	Lacks(ctx context.Context, project int, sid SID, hashes []Sum) ([]Sum, error)
	// PutBlob stores an image that the session names. The store computes the hash.
	PutBlob(ctx context.Context, project int, sid SID, b []byte) error
	// Blob returns an image that a visible session of the project names.
	Blob(ctx context.Context, project int, h Sum) ([]byte, error)

	// Delete moves a session to the store's trash, or restores it. Only its owner and administrators of
	// the team may; others get a Denied error.
	Delete(ctx context.Context, sid SID, undo bool) error

	// Tell notifies listening devices that the body has n bytes. Errors are ignored: listeners also poll.
	Tell(ctx context.Context, sid SID, n int64)
	// Ear calls woken for each notification, one call at a time. It returns an error when it can't
	// listen or when ctx ends; the caller then polls. Any user of the database can send notifications, so
	// that one is a reason to look and nothing more.
	Ear(ctx context.Context, woken func(SID)) error
	// Close closes all connections. Other calls then return an Offline error.
	Close() error
}

// Follower is the part of a store that follows the bodies of sessions. Every [Store] of this module
// implements it.
type Follower interface {
	// Follow makes writers of these sessions notify ([Store.Tell]) for the next 90 seconds. A follower
	// calls it once a minute.
	Follow(ctx context.Context, sids []SID) error
	// Tips returns the lengths of those sessions that changed since the cursor, and the next cursor, as
	// [Store.Changes] does. Every append counts.
	Tips(ctx context.Context, sids []SID, since Cursor) ([]Length, Cursor, error)
}

// Upkeep is the part of a store that removes and compacts data. Every [Store] of this module
// implements it.
type Upkeep interface {
	// Purge destroys the sessions of a project that were in the trash for 30 days, or all in the trash
	// if now, and returns their number. It destroys only sessions of the user, or, if the user
	// administers the team, all that the user can see.
	Purge(ctx context.Context, project int, now bool) (int, error)
	// Compact joins small segments of a session without a writer, and returns the number of new ones.
	Compact(ctx context.Context, sid SID) (int, error)
}
