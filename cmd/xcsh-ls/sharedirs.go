package main

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
)

// shareDirs returns the agent directories in which a share script is searched: our own, then those of omp
// and pi. Other directories that settings list are not searched, because settings may come from a workspace,
// and a script is a program. The gate checks the directory of the script that is found.
func (p place) shareDirs() []string {
	dirs := []string{p.finder.Roots[0].AgentDir}
	if home := p.env.Home; home != "" {
		if name := ompProfile(os.LookupEnv); name != "" {
			config := cmp.Or(p.env.Getenv("PI_CONFIG_DIR"), ".omp")
			dirs = append(dirs, filepath.Join(home, config, "profiles", name, "agent"))
		}
		for _, program := range []string{".omp", ".pi"} {
			dirs = append(dirs, filepath.Join(home, program, "agent"))
		}
	}
	return dirs
}

// profileName matches the names that omp accepts for a profile. Others could lead out of its directory.
var profileName = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9_-])?$`)

// ompProfile returns the profile that the environment selects for omp; "" is none.
func ompProfile(lookup func(string) (string, bool)) string {
	name, set := lookup("OMP_PROFILE")
	if !set {
		name, _ = lookup("PI_PROFILE")
	}
	if name == "default" || !profileName.MatchString(name) {
		return ""
	}
	return name
}
