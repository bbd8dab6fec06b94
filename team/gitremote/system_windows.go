package gitremote

// systemConfig is the file of the system.
const systemConfig = `C:\Program Files\Git\etc\gitconfig`
