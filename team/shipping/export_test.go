package shipping

func init() { longest = 4 << 20 }
