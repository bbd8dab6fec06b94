-- The window in which the user decides about something. Only the user's own command or key opens
-- it. Closing it is not a decision.

local M = {}

---@class xcsh.DecisionKey
---@field lhs string[]
---@field does string
---@field unlisted? boolean the lines name it, because the footer must fit 80 columns
---@field run fun()

---@class xcsh.DecisionWindow
---@field window integer
---@field over boolean the decision is no longer needed
local Window = {}
Window.__index = Window

---@class xcsh.Decidable
---@field title string
---@field lines string[]
---@field keys xcsh.DecisionKey[]
---@field closed? fun() called when the window is closed without a decision

---@param keys xcsh.DecisionKey[]
local function footer(keys)
  local parts = {}
  for _, key in ipairs(keys) do
    if not key.unlisted then
      parts[#parts + 1] = key.lhs[1] .. ' ' .. key.does
    end
  end
  parts[#parts + 1] = 'q later'
  return table.concat(parts, ' · ')
end

---@param spec xcsh.Decidable
---@return xcsh.DecisionWindow
function M.open(spec)
  require('xcsh.highlights').define()
  vim.cmd.stopinsert()
  local bufnr, window = require('xcsh.view').float(spec.title, spec.lines, footer(spec.keys))
  require('xcsh.diff').colour(bufnr)
  local self = setmetatable({ window = window, over = false }, Window)
  for _, key in ipairs(spec.keys) do
    for _, lhs in ipairs(key.lhs) do
      vim.keymap.set('n', lhs, function()
        local late = self.over
        self.over = true
        self:close()
        if not late then
          key.run()
        end
      end, { buffer = bufnr, nowait = true, desc = 'xcsh: ' .. key.does })
    end
  end
  vim.api.nvim_create_autocmd('WinClosed', {
    pattern = tostring(window),
    once = true,
    callback = function()
      if not self.over and spec.closed then
        vim.schedule(spec.closed)
      end
    end,
  })
  return self
end

function Window:close()
  if vim.api.nvim_win_is_valid(self.window) then
    vim.api.nvim_win_close(self.window, true)
  end
end

---Marks the decision as no longer needed. A focused window stays open, so that the next key does
---not go to the text below it.
function Window:expire()
  self.over = true
  if not vim.api.nvim_win_is_valid(self.window) then
    return
  end
  if vim.api.nvim_get_current_win() ~= self.window then
    return self:close()
  end
  local config = vim.api.nvim_win_get_config(self.window)
  config.title, config.footer = ' xcsh: no longer pending ', ' q close '
  vim.api.nvim_win_set_config(self.window, config)
end

---Moves the cursor into the window; returns false if the window is gone.
function Window:focus()
  if vim.api.nvim_win_is_valid(self.window) then
    vim.api.nvim_set_current_win(self.window)
    return true
  end
  return false
end

return M
