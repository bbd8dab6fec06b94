package team

import "time"

// Code is the outcome of a call that compares before it changes.
type Code string

// The codes. Their values are part of the protocol.
const (
	OK       Code = "ok"
	Same     Code = "same"   // an earlier call did it, and its answer was lost
	Fenced   Code = "fenced" // another device has the lease, or the fence is an old one
	OtherGen Code = "gen"    // the body was replaced by another generation
	Ahead    Code = "ahead"  // the body is longer than expected; look again, this is no conflict yet
	Short    Code = "short"  // the body is shorter than expected: a backup was restored
	Differs  Code = "other"  // the body has the expected length and other bytes
	Busy     Code = "busy"   // another device has the lease
	Gone     Code = "gone"   // deleted, hidden from the user, or not writable for them
)

// Tip is the state of a body after a call. With the code Gone, nothing else is set.
type Tip struct {
	Code   Code
	Gen    int           // 1 for the first generation
	Len    int64         // of the body, in bytes
	Sum    Sum           // of these bytes
	Fence  int64         // of the lease
	Device DeviceID      // the device with the lease, also after it ran out; zero without one
	Left   time.Duration // until the lease ends, by the store's clock; 0 when it ran out
	Heard  bool          // a device follows the session; the writer calls [Store.Tell]
}

// Writer is a device that writes a session.
type Writer struct {
	Device DeviceID
	Label  string        // of the device
	Owner  string        // the name of its user
	Mine   bool          // it is a device of this user
	Left   time.Duration // until the lease ends, by the store's clock; 0 when it ran out
}

// Append is a piece of a body.
type Append struct {
	SID   SID
	Gen   int
	Len   int64 // of the body before
	Sum   Sum   // of the body before
	Fence int64 // of the lease; any number if no device has it
	Bytes []byte
	New   Sum // of the body with Bytes
}

// Forking describes a variant to create.
type Forking struct {
	SID  SID
	Gen  int
	At   int64 // the shared bytes of the body: the end of a segment ([Store.SumAt]), or 0
	New  SID   // of the variant; drawn before the first call and kept for repeated calls
	Head []byte
}

// Stage is a piece of a generation that is not published yet. Pieces are at most as long as
// segments, and their order is that of the body.
type Stage struct {
	SID   SID
	Gen   int // greater than the published one
	Off   int64
	Was   Sum // of the body up to Off
	Bytes []byte
	Sum   Sum // of the body with Bytes
}

// Publish names the staged body that replaces the published one.
type Publish struct {
	SID    SID
	WasGen int
	WasLen int64
	WasSum Sum
	Gen    int
	Len    int64
	Sum    Sum
	Fence  int64 // of the lease, which the device must have
}

// Segment is a piece of a body as it is stored.
type Segment struct {
	Off   int64
	Bytes []byte // valid during the callback only
	Sum   Sum    // of the body up to the end of the segment
	Codec int    // 0: Bytes are the bytes of the body; other values are for later versions
}

// Cursor is a place in the changes of a store. It has no meaning in another store.
type Cursor uint64

// Length is the length of a body.
type Length struct {
	SID SID
	Gen int
	Len int64
}
