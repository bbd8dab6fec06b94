package session

import "go.uber.org/zap"

func zapPath(path string) zap.Field { return zap.String("path", path) }

func zapError(err error) zap.Field { return zap.Error(err) }
