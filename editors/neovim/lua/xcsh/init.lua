-- The plugin's API for people's own mappings and scripts. :Xcsh and its relatives
-- need none of it.

local M = {}

---Optional: without it the defaults hold.
---@param options? xcsh.Config
function M.setup(options)
  require('xcsh.config').set(options)
end

---Runs a command of the server without showing anything.
---
---    require('xcsh').execute('xcsh.state', {}, function(err, state) … end)
---
---@param name string as in docs/commands.md
---@param args? table<string, any> a cwd in it replaces the current directory
---@param callback? fun(err: xcsh.Error?, result: any)
function M.execute(name, args, callback)
  require('xcsh.client').execute(name, args or {}, callback or function() end)
end

---What goes on in a directory, for a statusline: "" when nothing does.
---
---    set statusline+=%{v:lua.require'xcsh'.status()}
---
---@param cwd? string default: the current directory
---@return string
function M.status(cwd)
  return require('xcsh.turns').status(cwd or require('xcsh.config').root())
end

---Ends the server; the next command starts a new one.
function M.stop()
  require('xcsh.client').stop()
end

return M
