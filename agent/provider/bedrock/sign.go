package bedrock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

// signer signs requests with the user's own credentials. They are looked for at the first use, and kept
// until they expire.
type signer struct {
	mu     sync.Mutex
	loaded *aws.Config // guarded by mu; nil until the configuration is loaded
}

// config returns the configuration of Amazon's programs on this machine.
func (s *signer) config(ctx context.Context) (aws.Config, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded == nil {
		cfg, err := config.LoadDefaultConfig(ctx) // reads files only
		if err != nil {
			return aws.Config{}, rejected
		}
		s.loaded = &cfg
	}
	return *s.loaded, nil
}

// forget makes the next request read the configuration again.
func (s *signer) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded = nil
}

// rejected has no text of its cause, which may repeat what a program or a service wrote.
var rejected = &provider.Error{Class: provider.Auth, Message: "Amazon's credentials on this machine cannot be used: " +
	"run aws sso login or aws configure, or set AWS_BEARER_TOKEN_BEDROCK"}

// sign adds the headers of a signature to a call.
func (s *signer) sign(ctx context.Context, call *guard.Call, region string, o guard.Options) error {
	cfg, err := s.config(ctx)
	if err != nil {
		return err
	}
	found, err := cfg.Credentials.Retrieve(ctx)
	if ctx.Err() != nil {
		return ctx.Err() // the request ends for the same reason
	}
	if err != nil {
		s.forget()
		return rejected
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, call.URL, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	sum := sha256.Sum256(call.Body)
	if err := v4.NewSigner().SignHTTP(ctx, found, req, hex.EncodeToString(sum[:]), "bedrock", region, o.Clock()); err != nil {
		return err
	}
	maps.Copy(call.Header, req.Header)
	return nil
}
