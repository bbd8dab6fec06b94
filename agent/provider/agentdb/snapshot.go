package agentdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

const (
	walSuffix     = "-wal"
	journalSuffix = "-journal"

	headerLen    = 100 // of a database
	walHeaderLen = 32
	frameLen     = 24 // the header of a page in the log

	tries = 5
)

var magic = []byte("SQLite format 3\x00")

var errChanging = errors.New("it is being changed by another program; it is read again when it is needed")

// snapshot returns the database at path as SQLite sees it, in one piece: with the committed pages of its write-ahead log.
//
// No lock is taken. A program changes a database that has such a log only by copying pages of the log to it. So the
// bytes of the database, with the pages of a log that was read after it, are right if the log was not begun again meanwhile, which
// changes the salt in its header. A database without such a log must be the same before and after.
func snapshot(fsys afero.Fs, path string) ([]byte, error) {
	for range tries {
		before, err := readLog(fsys, path)
		if err != nil {
			return nil, err
		}
		db, err := readFile(fsys, path)
		if err != nil {
			return nil, err
		}
		after, err := readLog(fsys, path)
		if err != nil {
			return nil, err
		}
		if len(db) < headerLen || !bytes.HasPrefix(db, magic) {
			return nil, errDamaged
		}
		if usesLog := db[18] == 2; usesLog && len(before) >= walHeaderLen && len(after) >= len(before) && bytes.Equal(before[:walHeaderLen], after[:walHeaderLen]) {
			if db, err = apply(db, after); err != nil {
				return nil, err
			}
			return withoutLog(db), nil
		}
		if len(before) >= walHeaderLen || len(after) >= walHeaderLen {
			continue // it was begun again, or removed
		}
		same, err := unchanged(fsys, path, db)
		if err != nil {
			return nil, err
		}
		if same {
			return withoutLog(db), nil
		}
	}
	return nil, errChanging
}

// unchanged reports whether a database without a log is still the same, and no transaction that was interrupted has to be undone.
func unchanged(fsys afero.Fs, path string, db []byte) (bool, error) {
	if info, err := fsys.Stat(path + journalSuffix); err == nil && info.Size() > 0 {
		return false, nil
	}
	again, err := readFile(fsys, path)
	if err != nil {
		return false, err
	}
	log, err := readLog(fsys, path)
	return len(log) < walHeaderLen && bytes.Equal(db, again), err
}

// withoutLog marks the image as a database that uses no log, which one in memory cannot have.
func withoutLog(db []byte) []byte {
	db[18], db[19] = 1, 1
	return db
}

func readFile(fsys afero.Fs, path string) ([]byte, error) {
	content, err := intake.ReadAll(fsys, path, maxFile)
	if refused, ok := errors.AsType[*intake.Refused](err); ok {
		return nil, errors.New(refused.Why)
	}
	if err != nil {
		return nil, reason(err)
	}
	return content, nil
}

// readLog returns the write-ahead log, nil if there is none.
func readLog(fsys afero.Fs, path string) ([]byte, error) {
	log, err := readFile(fsys, path+walSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return log, err
}

// apply returns the database with the pages of the transactions that the log contains completely.
func apply(db, log []byte) ([]byte, error) {
	const (
		logMagic = 0x377f0682 // with the lowest bit set: checksums of big-endian words
		version  = 3007000
		least    = 512
		most     = 65536
	)
	be := binary.BigEndian
	var order binary.ByteOrder = binary.LittleEndian
	if be.Uint32(log)&1 == 1 {
		order = be
	}
	size := int(be.Uint32(log[8:]))
	s0, s1 := sum(order, 0, 0, log[:24])
	if be.Uint32(log)&^1 != logMagic || be.Uint32(log[4:]) != version || size < least || size > most || size&(size-1) != 0 ||
		s0 != be.Uint32(log[24:]) || s1 != be.Uint32(log[28:]) {
		return db, nil // SQLite ignores such a log, too
	}
	type page struct {
		number  int
		content []byte
	}
	var pending []page
	for rest := log[walHeaderLen:]; len(rest) >= frameLen+size; rest = rest[frameLen+size:] {
		content := rest[frameLen : frameLen+size]
		s0, s1 = sum(order, s0, s1, rest[:8])
		s0, s1 = sum(order, s0, s1, content)
		if !bytes.Equal(rest[8:16], log[16:24]) || s0 != be.Uint32(rest[16:]) || s1 != be.Uint32(rest[20:]) {
			break // of an earlier log, or not written completely
		}
		number, pages := int(be.Uint32(rest)), int(be.Uint32(rest[4:]))
		pending = append(pending, page{number, content})
		if pages == 0 {
			continue
		}
		if pages > maxFile/size {
			return nil, errors.New("it is too large")
		}
		db = resized(db, pages*size)
		for _, p := range pending {
			if p.number >= 1 && p.number <= pages {
				copy(db[(p.number-1)*size:], p.content)
			}
		}
		pending = nil
	}
	if len(db) < headerLen {
		return nil, errDamaged
	}
	return db, nil
}

func resized(b []byte, n int) []byte {
	if n <= len(b) {
		return b[:n]
	}
	return append(b, make([]byte, n-len(b))...)
}

// sum continues the checksum of a log.
func sum(order binary.ByteOrder, s0, s1 uint32, b []byte) (uint32, uint32) {
	for ; len(b) >= 8; b = b[8:] {
		s0 += order.Uint32(b) + s1
		s1 += order.Uint32(b[4:]) + s0
	}
	return s0, s1
}
