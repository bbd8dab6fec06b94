package replicate

// Kill ends the process of r as a signal would: nothing is sent or given back, and push.lock stays.
func (r *Replicator) Kill() {
	r.mu.Lock()
	r.sender = nil
	r.mu.Unlock()
	_ = r.shut()
}
