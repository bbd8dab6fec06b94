package paging

// Limits bound a page. An item that is larger than Bytes comes alone.
type Limits struct {
	Items int
	Bytes int
}

// The limits of a page.
const (
	MaxMessages = 500
	MaxItems    = 5_000   // entries or nodes
	MaxBytes    = 4 << 20 // of the items' JSON
	MaxAnswer   = 64 << 20
)

// Room returns an empty page.
func (l Limits) Room() *Room { return &Room{Limits: l} }

// Room counts what is on a page.
type Room struct {
	Limits
	items, bytes int
}

// Take reports whether an item of n bytes fits, and counts it.
func (r *Room) Take(n int) bool {
	if r.items >= r.Items || r.items > 0 && r.bytes+n > r.Bytes {
		return false
	}
	r.items++
	r.bytes += n
	return true
}

// Full reports whether no further item fits, whatever its size.
func (r *Room) Full() bool { return r.items >= r.Items || r.bytes >= r.Bytes }
