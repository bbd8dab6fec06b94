package pg

import (
	"context"
	"errors"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg/wire"
)

// tipColumns are the columns of the type tip_v1, in the order of [Store.tip].
const tipColumns = `select code, gen, len, sum, fence, device, left_ms, heard from `

// tip calls a function that returns a tip_v1 and transfers n bytes.
func (s *Store) tip(ctx context.Context, n int, sql string, args ...any) (team.Tip, error) {
	var t team.Tip
	var code string
	var sum []byte
	var device *[16]byte
	var left int64
	if err := s.row(ctx, n, []any{&code, &t.Gen, &t.Len, &sum, &t.Fence, &device, &left, &t.Heard}, tipColumns+sql, args...); err != nil {
		return team.Tip{}, err
	}
	if t.Code = team.Code(code); t.Code == team.Gone {
		return team.Tip{Code: team.Gone}, nil
	}
	copy(t.Sum[:], sum)
	t.Device.UUID = value(device) // zero if it is null
	t.Left = time.Duration(left) * time.Millisecond
	return t, nil
}

// Tip implements [team.Store].
func (s *Store) Tip(ctx context.Context, sid team.SID) (team.Tip, error) {
	return s.tip(ctx, 0, `xcsh.tip_v1($1)`, [16]byte(sid.UUID))
}

// Append implements [team.Store].
func (s *Store) Append(ctx context.Context, a team.Append) (team.Tip, error) {
	device, err := s.deviceID()
	if err != nil {
		return team.Tip{}, err
	}
	if len(a.Bytes) == 0 {
		return team.Tip{}, fault.New(fault.InvalidArgument, "An append to the team store needs bytes.")
	}
	return s.tip(ctx, len(a.Bytes), `xcsh.append_v1($1, $2, $3, $4, $5, $6, $7, $8)`,
		[16]byte(a.SID.UUID), a.Gen, a.Len, a.Sum[:], a.Fence, device, a.Bytes, a.New[:])
}

// Lease implements [team.Store].
func (s *Store) Lease(ctx context.Context, sid team.SID, force bool) (team.Tip, error) {
	device, err := s.deviceID()
	if err != nil {
		return team.Tip{}, err
	}
	return s.tip(ctx, 0, `xcsh.lease_v1($1, $2, $3)`, [16]byte(sid.UUID), device, force)
}

// Release implements [team.Store].
func (s *Store) Release(ctx context.Context, sid team.SID, fence int64) error {
	device, err := s.deviceID()
	if err != nil {
		return err
	}
	return s.exec(ctx, `select xcsh.release_v1($1, $2, $3)`, [16]byte(sid.UUID), device, fence)
}

// Writer implements [team.Store].
func (s *Store) Writer(ctx context.Context, sid team.SID) (w team.Writer, err error) {
	var device [16]byte
	var left int64
	err = s.row(ctx, 0, []any{&device, &w.Label, &w.Owner, &w.Mine, &left},
		`select device, label, owner, mine, left_ms from xcsh.writer_v1($1)`, [16]byte(sid.UUID))
	if errors.Is(err, wire.ErrNoRow) {
		return team.Writer{}, nil
	}
	w.Device.UUID, w.Left = device, time.Duration(left)*time.Millisecond
	return w, err
}

// Fork implements [team.Store].
func (s *Store) Fork(ctx context.Context, f team.Forking) (team.Tip, error) {
	device, err := s.deviceID()
	if err != nil {
		return team.Tip{}, err
	}
	return s.tip(ctx, int(min(f.At, 1<<30)), `xcsh.fork_v1($1, $2, $3, $4, $5, $6)`,
		[16]byte(f.SID.UUID), f.Gen, f.At, [16]byte(f.New.UUID), nonNil(f.Head), device)
}

// Stage implements [team.Store].
func (s *Store) Stage(ctx context.Context, p team.Stage) error {
	if len(p.Bytes) == 0 {
		return fault.New(fault.InvalidArgument, "A staged piece needs bytes.")
	}
	var staged bool
	err := s.row(ctx, len(p.Bytes), []any{&staged}, `select xcsh.stage_v1($1, $2, $3, $4, $5, $6)`,
		[16]byte(p.SID.UUID), p.Gen, p.Off, p.Was[:], p.Bytes, p.Sum[:])
	if err == nil && !staged {
		return team.StaleStage(p)
	}
	return err
}

// Publish implements [team.Store].
func (s *Store) Publish(ctx context.Context, p team.Publish) (team.Tip, error) {
	device, err := s.deviceID()
	if err != nil {
		return team.Tip{}, err
	}
	return s.tip(ctx, 0, `xcsh.publish_v1($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		[16]byte(p.SID.UUID), p.WasGen, p.WasLen, p.WasSum[:], p.Gen, p.Len, p.Sum[:], p.Fence, device)
}
