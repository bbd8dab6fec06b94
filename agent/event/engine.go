package event

// The events of a session's engine: the program that answers in it.
type (
	// EngineChanged reports the state of the engine, and what a client can offer with it.
	EngineChanged struct {
		Engine  string   `json:"engine"`            // its name: "own", "pi"
		Version string   `json:"version,omitempty"` // of the program
		State   string   `json:"state"`             // see [engine.State]
		Message string   `json:"message,omitempty"` // a sentence for the user
		Details string   `json:"details,omitempty"` // the last lines of the program's error output
		Actions []Action `json:"actions,omitempty"` // ways to continue after a failure
	}

	// Question is a dialog that waits for the user: of an extension of the engine, of the model, or of a server that a
	// tool uses.
	Question struct {
		ID           string   `json:"id"`
		Method       string   `json:"method"`         // select, confirm, input or editor
		From         string   `json:"from,omitempty"` // model or server; absent for an extension of the engine
		Title        string   `json:"title"`
		Message      string   `json:"message,omitempty"`
		Options      []string `json:"options,omitempty"`      // of select
		Descriptions []string `json:"descriptions,omitempty"` // of the options, in their order; empty for one without
		Recommended  *int     `json:"recommended,omitempty"`  // index of an option
		Multi        bool     `json:"multi,omitempty"`        // several options can be chosen
		Other        bool     `json:"other,omitempty"`        // an answer that is none of the options can be written
		Optional     bool     `json:"optional,omitempty"`     // it can be left without an answer
		Number       int      `json:"number,omitempty"`       // which one of several questions in a row it is, from 1
		Of           int      `json:"of,omitempty"`           // how many these are
		Placeholder  string   `json:"placeholder,omitempty"`  // of input
		Prefill      string   `json:"prefill,omitempty"`      // of input and editor
		Until        int64    `json:"until,omitempty"`        // milliseconds since 1970 at which the engine answers itself; 0 means never
	}

	// QuestionAsked reports a new question.
	QuestionAsked struct{ Question }

	// QuestionGone reports that a question does not wait any more: it was answered, or taken back.
	QuestionGone struct {
		ID string `json:"id"`
	}

	// EngineStatus is a text that an extension of the engine shows beside the conversation, until it is
	// replaced by another one with the same key. Without lines, it is removed.
	EngineStatus struct {
		Key   string   `json:"key"`
		Lines []string `json:"lines,omitempty"`
	}

	// Prefill is a text that an extension of the engine proposes as the next prompt. A client puts it into
	// an empty input only.
	Prefill struct {
		Text string `json:"text"`
	}
)

func (EngineChanged) sealed() {}
func (QuestionAsked) sealed() {}
func (QuestionGone) sealed()  {}
func (EngineStatus) sealed()  {}
func (Prefill) sealed()       {}

// Type returns "engine_changed".
func (EngineChanged) Type() string { return "engine_changed" }

// Type returns "question_asked".
func (QuestionAsked) Type() string { return "question_asked" }

// Type returns "question_gone".
func (QuestionGone) Type() string { return "question_gone" }

// Type returns "engine_status".
func (EngineStatus) Type() string { return "engine_status" }

// Type returns "prefill".
func (Prefill) Type() string { return "prefill" }

// MarshalJSON implements [json.Marshaler].
func (e EngineChanged) MarshalJSON() ([]byte, error) {
	type members EngineChanged
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e QuestionAsked) MarshalJSON() ([]byte, error) { return encode(e.Type(), e.Question) }

// MarshalJSON implements [json.Marshaler].
func (e QuestionGone) MarshalJSON() ([]byte, error) {
	type members QuestionGone
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e EngineStatus) MarshalJSON() ([]byte, error) {
	type members EngineStatus
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e Prefill) MarshalJSON() ([]byte, error) {
	type members Prefill
	return encode(e.Type(), members(e))
}
