package guard

import (
	"net/http"
	"time"
)

// DefaultIdle is how long a service may be silent. Models that think without telling are
// silent for minutes.
const DefaultIdle = 5 * time.Minute

// Options are the common options of the clients of all services. The zero value is right outside
// tests.
type Options struct {
	Transport http.RoundTripper // nil: one that is shared by all clients
	Idle      time.Duration     // silence that ends a request, also before the first byte; 0: DefaultIdle; < 0: none

	LongCache bool // set LongCache in every request

	AfterFunc func(time.Duration, func()) Timer // nil: time.AfterFunc
	Now       func() time.Time                  // nil: time.Now
}

// Timer is the part of a time.Timer that Options need.
type Timer interface {
	Reset(d time.Duration) bool
	Stop() bool
}

func (o Options) idle() time.Duration {
	if o.Idle == 0 {
		return DefaultIdle
	}
	return o.Idle
}

func (o Options) afterFunc(d time.Duration, f func()) Timer {
	if o.AfterFunc != nil {
		return o.AfterFunc(d, f)
	}
	return time.AfterFunc(d, f)
}

// Clock returns the time of a request, for clients that sign it.
func (o Options) Clock() time.Time { return o.now() }

func (o Options) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

func (o Options) transport() http.RoundTripper {
	if o.Transport != nil {
		return o.Transport
	}
	return shared
}

// shared has no limit on the time of a whole answer, requests no compression, because compressors
// hold events back, and notices HTTP/2 connections that died during a suspend.
var shared = newTransport()

func newTransport() *http.Transport {
	t := &http.Transport{}
	if d, ok := http.DefaultTransport.(*http.Transport); ok {
		t = d.Clone()
	}
	t.DisableCompression = true
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second}
	return t
}
