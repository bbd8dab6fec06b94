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

---The same and, while nothing goes on, what is asked: for lualine and the like. "" as long
---as the plugin has done nothing in the directory.
---@param cwd? string default: the current directory
---@return string
function M.statusline(cwd)
  local turns = package.loaded['xcsh.turns']
  -- lualine calls its components with more than nothing.
  local root = type(cwd) == 'string' and cwd or require('xcsh.config').root()
  return turns and turns.statusline(root) or ''
end

---Shows the chat of a directory and puts the cursor into its prompt.
---@param cwd? string default: the current directory
function M.chat(cwd)
  require('xcsh.chat').open(cwd)
end

---Shows the chat, or hides it.
---@param cwd? string default: the current directory
function M.toggle(cwd)
  require('xcsh.chat').toggle(cwd)
end

---Asks for a change of lines of the current buffer, which is shown before it is made.
---Without lines: those of the selection, else that of the cursor.
---@param options? { instruction?: string, first?: integer, last?: integer }
function M.inline(options)
  require('xcsh.inline').start(options or {})
end

---Ends the server; the next command starts a new one.
function M.stop()
  require('xcsh.client').stop()
end

return M
