package conn

// threshold lets any number of goroutines wait for the same condition. The zero value is ready to
// use. Callers hold the lock that guards the condition.
type threshold struct {
	reached chan struct{} // nil if nothing waits
}

// wait returns a channel that is closed by the next notify with true.
func (t *threshold) wait() <-chan struct{} {
	if t.reached == nil {
		t.reached = make(chan struct{})
	}
	return t.reached
}

// notify wakes the waiting goroutines if the condition holds.
func (t *threshold) notify(holds bool) {
	if t.reached != nil && holds {
		close(t.reached)
		t.reached = nil
	}
}
