package providertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// play answers with the reply.
func (s *Server) play(f *format, reply Reply, m made, w http.ResponseWriter, r *http.Request) {
	if !wait(reply.Before, r) {
		return
	}
	switch {
	case reply.Fault == CutBefore:
		panic(http.ErrAbortHandler)
	case reply.Fault == HTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html><html><head><title>Sign in</title><style>p{color:red}</style></head>"+
			"<body><h1>Welcome to the hotel</h1><p>Please accept our terms &amp; conditions.</p></body></html>")
		return
	case reply.Fault.before():
		if reply.RetryAfter != "" {
			w.Header().Set("Retry-After", reply.RetryAfter)
		}
		no := f.faults[reply.Fault]
		writeJSON(w, no.status, f.refuse(no))
		return
	}
	out := stream{w: w, flush: http.NewResponseController(w), frame: serverSent}
	media := "text/event-stream; charset=utf-8"
	if f.frame != nil {
		media, out.frame = f.media, f.frame
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(http.StatusOK)
	held, broken := reply.Hold == nil, reply.Fault == NoFault
	for _, fr := range f.frames(reply, m) {
		if out.send(fr) != nil {
			return
		}
		if !held && fr.at&reply.holdAt() != 0 {
			held = true
			if !wait(reply.Hold, r) {
				return
			}
		}
		if !broken && fr.at&reply.Fault.where() != 0 {
			out.break_(f, reply.Fault, r)
			return
		}
	}
	if !held || !broken {
		s.tb.Errorf("providertest: the reply of %s has no place to be held or to fail at: %+v", m.model, reply)
	}
}

// wait waits for gate, unless it is nil. It is false when the client has left.
func wait(gate <-chan struct{}, r *http.Request) bool {
	if gate == nil {
		return true
	}
	select {
	case <-gate:
		return true
	case <-r.Context().Done():
		return false
	}
}

// stream sends events.
type stream struct {
	w     io.Writer
	flush *http.ResponseController
	frame func(name string, data []byte) []byte
}

// serverSent is an event as most formats have it.
func serverSent(name string, data []byte) []byte {
	if name != "" {
		name = "event: " + name + "\n"
	}
	return fmt.Appendf(nil, "%sdata: %s\n\n", name, data)
}

func (o stream) send(f frame) error {
	data, isRaw := f.data.(raw)
	if !isRaw {
		encoded, err := json.Marshal(f.data)
		if err != nil {
			return err
		}
		data = raw(encoded)
	}
	_, err := o.w.Write(o.frame(f.event, []byte(data)))
	return errors.Join(err, o.flush.Flush())
}

// break_ ends the stream as the fault requires.
func (o stream) break_(f *format, fault Fault, r *http.Request) {
	switch fault {
	case OverloadedWithin, LimitedWithin:
		_ = o.send(f.within(f.faults[fault])) // the client may have left
	case BadJSON:
		_ = o.send(frame{data: raw(`{"type":"content_block_delta","ind`)})
		<-r.Context().Done() // later events must not matter
	case Stall:
		<-r.Context().Done()
	case Cut, CutInCall:
		panic(http.ErrAbortHandler) // the server's way of closing the connection in the middle
	default: // EndsEarly and EndsInCall: returning is a clean end
	}
}
