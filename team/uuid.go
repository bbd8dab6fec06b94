package team

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// UUID is a UUID of any version.
type UUID [16]byte

// NewUUID returns a random UUID (version 4).
func NewUUID() UUID {
	u, _ := DrawUUID(rand.Reader) // never fails, see its documentation
	return u
}

// DrawUUID is NewUUID with another source of random bytes. The error is that of random.
func DrawUUID(random io.Reader) (u UUID, err error) {
	if _, err = io.ReadFull(random, u[:]); err != nil {
		return UUID{}, fmt.Errorf("draw an id: %w", err)
	}
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return u, nil
}

// String returns the canonical form in small letters.
func (u UUID) String() string {
	h := hex.EncodeToString(u[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// IsZero reports whether no UUID is set.
func (u UUID) IsZero() bool { return u == UUID{} }

// MarshalText returns the canonical form.
func (u UUID) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText accepts the canonical form only, in small or capital letters.
func (u *UUID) UnmarshalText(b []byte) error {
	if len(b) != 36 || b[8] != '-' || b[13] != '-' || b[18] != '-' || b[23] != '-' {
		return errors.New("not a UUID")
	}
	digits := make([]byte, 0, 32)
	for _, part := range [][]byte{b[:8], b[9:13], b[14:18], b[19:23], b[24:]} {
		digits = append(digits, part...)
	}
	var parsed UUID
	if _, err := hex.Decode(parsed[:], digits); err != nil {
		return errors.New("not a UUID")
	}
	*u = parsed
	return nil
}

// SID identifies a session in every store. The device that publishes a session first draws it.
type SID struct{ UUID }

// NewSID returns a random SID.
func NewSID() SID { return SID{NewUUID()} }

// ParseSID parses the canonical form of a UUID.
func ParseSID(s string) (SID, error) {
	var sid SID
	err := sid.UnmarshalText([]byte(s))
	return sid, err
}

// DeviceID identifies an agent directory. It is drawn once for each.
type DeviceID struct{ UUID }

// NewDeviceID returns a random DeviceID.
func NewDeviceID() DeviceID { return DeviceID{NewUUID()} }
