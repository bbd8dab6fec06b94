-- Intent: a window or question that results from the user's command or key may take the focus only
-- while the user is waiting for it. Any key, another window or another mode since then means that
-- the user continued with other work, which the next key is for.

local M = {}

local namespace = vim.api.nvim_create_namespace('xcsh_intent')

local pressed = 0

---The prefix of keys that Neovim generates itself, such as those of events and of <Cmd> mappings.
local internal = '\128\253'

vim.on_key(function(key)
  if key:sub(1, 2) ~= internal then
    pressed = pressed + 1
  end
end, namespace)

---Returns the number of keys that the user has pressed.
---@return integer
function M.pressed()
  return pressed
end

---@class xcsh.Intent
---@field pressed integer
---@field window integer
---@field long boolean the user does not wait for its end
local Intent = {}
Intent.__index = Intent

---@type table<xcsh.Intent, boolean>
local unfinished = {}

---Records that the user has just requested something.
---@param long? boolean a turn of a model: the user does not wait for it
---@return xcsh.Intent
function M.begin(long)
  local intent = setmetatable({
    pressed = pressed,
    window = vim.api.nvim_get_current_win(),
    long = long or false,
  }, Intent)
  unfinished[intent] = true
  return intent
end

---Reports whether the user has been idle since.
function Intent:idle()
  return self.pressed == pressed
    and self.window == vim.api.nvim_get_current_win()
    and vim.api.nvim_get_mode().mode == 'n'
    and vim.fn.getcmdwintype() == ''
end

---Reports whether the user still waits where the intent began, also in insert mode.
function Intent:still()
  return self.pressed == pressed
    and self.window == vim.api.nvim_get_current_win()
    and vim.api.nvim_get_mode().mode:find('^[ni]') ~= nil
    and vim.fn.getcmdwintype() == ''
end

---Reports whether a window or question of this intent may take the focus now.
function Intent:waits()
  return not self.long and self:idle()
end

---Ends the intent: the server has answered, so its later requests do not belong to it.
function Intent:finish()
  unfinished[self] = nil
end

---Opens a question that results from the user's command or key if the user has been idle since;
---otherwise announces the command that opens it.
---@param cwd string
---@param says string description on one line
---@param open fun()
function Intent:show(cwd, says, open)
  self:finish()
  if self:idle() then
    return open()
  end
  require('xcsh.waiting').add({
    kind = 'question',
    cwd = cwd,
    says = says,
    open = open,
    once = true,
  })
end

---Reports whether the user is waiting for the result of a command.
function M.waits()
  for intent in pairs(unfinished) do
    if intent:waits() then
      return true
    end
  end
  return false
end

return M
