package bedrock

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// frame makes a message with these headers, whose values are texts.
func frame(payload string, headers ...string) []byte {
	var h []byte
	for i := 0; i+1 < len(headers); i += 2 {
		h = append(append(h, byte(len(headers[i]))), headers[i]...)
		h = append(binary.BigEndian.AppendUint16(append(h, 7), uint16(len(headers[i+1]))), headers[i+1]...)
	}
	return sealed(uint32(16+len(h)+len(payload)), uint32(len(h)), append(h, payload...))
}

// sealed makes a message of any lengths, with good checksums.
func sealed(total, headers uint32, rest []byte) []byte {
	out := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, total), headers)
	out = append(binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out)), rest...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

func TestFrames(t *testing.T) {
	t.Parallel()
	other := []byte{4, 'f', 'l', 'a', 'g', 0, 3, 'n', 'u', 'm', 4, 0, 0, 0, 7} // values of other types
	in := append(frame(`{"a":1}`, ":message-type", "event", ":event-type", "messageStart"), frame("", ":message-type", "exception", ":exception-type", "throttlingException")...)
	in = append(in, frame("x", ":message-type", "error", ":error-code", "Internal")...)
	in = append(in, sealed(uint32(16+len(other)+1), uint32(len(other)), append(other, '!'))...)
	next := framing.Events(iotest.OneByteReader(bytes.NewReader(in)))
	for _, want := range [][2]string{{"messageStart", `{"a":1}`}, {"exception:throttlingException", ""}, {"exception:Internal", "x"}, {"", "!"}} {
		e, err := next()
		require.NoError(t, err)
		require.Equal(t, want, [2]string{e.Name, string(e.Data)})
	}
	_, err := next()
	require.Equal(t, io.EOF, err)
}

// A service can claim any length and send any bytes.
func TestDamagedFrames(t *testing.T) {
	t.Parallel()
	good := frame("{}", ":message-type", "event", ":event-type", "e")
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x40
		_, err := framing.Events(bytes.NewReader(bad))()
		require.Error(t, err, "byte %d", i)
		_, err = framing.Events(bytes.NewReader(good[:i]))()
		if i == 0 {
			require.Equal(t, io.EOF, err)
		} else {
			require.Equal(t, io.ErrUnexpectedEOF, err, "%d bytes", i)
		}
	}
	for name, bad := range map[string][]byte{
		"too long":                      sealed(1<<31, 0, nil),
		"headers that are too long":     sealed(1<<20, 1<<19, nil),
		"headers longer than a message": sealed(20, 5, nil),
		"no room for checksums":         sealed(15, 0, nil),
		"a header's name is cut":        sealed(16+2, 2, []byte{9, 'a'}),
		"a header has no type":          sealed(16+2, 2, []byte{1, 'a'}),
		"a type that is unknown":        sealed(16+3, 3, []byte{1, 'a', 77}),
		"a value is cut":                sealed(16+6, 6, []byte{1, 'a', 7, 0, 9, 'x'}),
	} {
		_, err := framing.Events(bytes.NewReader(bad))()
		require.ErrorIs(t, err, errFrame, name)
	}
}

// The claimed length of a message costs nothing until its bytes arrive.
func TestClaimedLengthIsNotAllocated(t *testing.T) {
	claim := sealed(16+maxPayload, 0, nil)[:12]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := framing.Events(bytes.NewReader(claim))()
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

func FuzzFrames(f *testing.F) {
	f.Add(frame("{}", ":message-type", "event", ":event-type", "e"))
	f.Add(sealed(19, 3, []byte{1, 'a', 77}))
	f.Fuzz(func(t *testing.T, in []byte) {
		next := framing.Events(bytes.NewReader(in))
		for n := 0; ; n++ {
			e, err := next()
			if err != nil {
				return
			}
			if len(e.Data) > len(in) || n > len(in) {
				t.Fatal("more than there is")
			}
		}
	})
}
