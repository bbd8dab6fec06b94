package catalog

// Flagships returns the models to begin with of all services.
func Flagships() []string {
	var all []string
	for _, s := range services {
		all = append(all, s.id+"/"+s.flagship)
	}
	return all
}
