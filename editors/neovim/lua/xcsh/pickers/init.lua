-- Lists to choose from: vim.ui.select, or a picker plugin that supports previews and additional
-- keys.

local M = {}

---@class xcsh.PickerAction
---@field key string as in a mapping, such as "<C-f>"
---@field does string
---@field run fun(item: any)

---@class xcsh.Pick a list to choose from
---@field prompt string
---@field kind string for vim.ui.select
---@field items any[]
---@field format fun(item: any): string
---@field preview? fun(item: any, show: fun(lines: string[])) shows an item, immediately or later
---@field actions xcsh.PickerAction[]
---@field on_choice fun(item: any) called once, with nil if the list is closed

---The picker plugins by their names in the settings: the module that must exist, and this plugin's
---adapter for it.
local backends = {
  { name = 'snacks', needs = 'snacks.picker', module = 'xcsh.pickers.snacks' },
  { name = 'telescope', needs = 'telescope', module = 'xcsh.pickers.telescope' },
  { name = 'fzf-lua', needs = 'fzf-lua', module = 'xcsh.pickers.fzf' },
}

---Returns the installed picker plugins.
---@return string[]
function M.found()
  local names = {}
  for _, backend in ipairs(backends) do
    if pcall(require, backend.needs) then
      names[#names + 1] = backend.name
    end
  end
  return names
end

---Returns the picker to use: the configured one, else the first that is installed.
---@return string name
---@return { pick: fun(pick: xcsh.Pick) } backend
function M.backend()
  local wanted = require('xcsh.config').options.picker or 'auto'
  for _, backend in ipairs(backends) do
    if wanted == backend.name or wanted == 'auto' then
      if pcall(require, backend.needs) then
        return backend.name, require(backend.module)
      elseif wanted == backend.name then
        local text = 'The picker "%s" is not installed. Using vim.ui.select.'
        require('xcsh.view').notify(text:format(wanted), vim.log.levels.WARN)
      end
    end
  end
  return 'select', require('xcsh.pickers.select')
end

---Offers a list. Whatever the picker does, on_choice is called once.
---@param pick xcsh.Pick
function M.pick(pick)
  local done = false
  local name, backend = M.backend()
  local once = vim.tbl_extend('force', pick, {
    on_choice = function(item)
      if not done then
        done = true
        pick.on_choice(item)
      end
    end,
    actions = vim.tbl_map(function(action)
      return vim.tbl_extend('force', action, {
        run = function(item)
          if not done then
            done = true
            action.run(item)
          end
        end,
      })
    end, pick.actions),
  })
  local ok, problem = pcall(backend.pick, once)
  if not ok and name ~= 'select' then
    -- The picker may not be compatible with this Neovim.
    local text = 'The picker "%s" failed: %s'
    require('xcsh.view').notify(text:format(name, problem), vim.log.levels.WARN)
    require('xcsh.pickers.select').pick(once)
  elseif not ok then
    error(problem, 0)
  end
end

return M
