package enginetest

import (
	"os"
	"strings"
)

// mib is the unit of the sizes of faults.
const mib = 1 << 20

// commit commits a fault of a prompt.
func (t *turns) commit(f fault) {
	switch f.name {
	case "garbage":
		for range max(1, f.int()) {
			t.out.raw([]byte("Warning: \x1b[31mthis is not JSON\n"))
		}
	case "half-line":
		t.out.raw([]byte(`{"half": `))
	case "line":
		t.event("mock_large", "text", strings.Repeat("x", f.int()*mib))
	case "endless":
		for t.ctx.Err() == nil {
			t.out.raw([]byte(strings.Repeat("x", mib)))
		}
	case "unknown":
		t.event("mock_event", "value", 1)
		t.ui("mock_dialog", "title", "?")
	case "exit":
		os.Exit(f.int())
	case "crash":
		t.event("message_start", "message", t.assistant(nil, "pending", "", 0))
		t.update("text_start", 0)
		t.update("text_delta", 0, "delta", "I will ")
		killSelf()
	case "stop":
		stopSelf()
	case "stderr":
		_, _ = os.Stderr.WriteString(strings.ReplaceAll(f.arg, `\n`, "\n"))
	case "flood":
		for range f.int() * mib / 64 {
			_, _ = os.Stderr.WriteString("0123456789012345678901234567890123456789012345678901234567890\r\n")
		}
	case "not-reading":
		t.mu.Lock()
		t.deaf = true
		t.mu.Unlock()
	}
}
