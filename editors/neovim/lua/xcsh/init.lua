-- The plugin's API for users' mappings and scripts. :Xcsh and the other commands do not need it.

local M = {}

---Optional: the defaults apply without it.
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

---Returns the activity in a directory, for a statusline: "" if there is none.
---
---    set statusline+=%{v:lua.require'xcsh'.status()}
---
---@param cwd? string default: the current directory
---@return string
function M.status(cwd)
  return require('xcsh.turns').status(cwd or require('xcsh.config').root())
end

---Like status, but returns the last model if there is no activity: for lualine and similar plugins.
---"" until the plugin is used in the directory.
---@param cwd? string default: the current directory
---@return string
function M.statusline(cwd)
  local turns = package.loaded['xcsh.turns']
  -- lualine passes extra arguments to its components.
  local root = type(cwd) == 'string' and cwd or require('xcsh.config').root()
  return turns and turns.statusline(root) or ''
end

---Returns what the session of a directory did to files and is not reviewed, for a statusline: for
---example "3 to review", or "" if there is nothing.
---@param cwd? string default: the current directory
---@return string
function M.changes(cwd)
  local pending = package.loaded['xcsh.changes.pending']
  local root = type(cwd) == 'string' and cwd or require('xcsh.config').root()
  local count = pending and pending.count(root) or 0
  return count > 0 and ('%d to review'):format(count) or ''
end

---Returns what of the shared sessions is not in the team store yet, for a statusline: for example
---"team: 3 unsent" or "team: offline", or "" if nothing is shared or everything is sent.
---@return string
function M.team()
  local team = package.loaded['xcsh.team']
  return team and team.statusline() or ''
end

---Shows the chat of a directory and puts the cursor into its prompt.
---@param cwd? string default: the current directory
function M.chat(cwd)
  require('xcsh.chat').open(cwd)
end

---Shows or hides the chat.
---@param cwd? string default: the current directory
function M.toggle(cwd)
  require('xcsh.chat').toggle(cwd)
end

---Requests a change to lines of the current buffer, and shows it for review. Without a range, it
---uses the selection, else the line at the cursor.
---@param options? { instruction?: string, first?: integer, last?: integer }
function M.inline(options)
  require('xcsh.inline').start(options or {})
end

---Stops the server; the next command starts a new one.
function M.stop()
  require('xcsh.client').stop()
end

return M
