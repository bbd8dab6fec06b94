-- The branch on which another program continued a session, and the user's decision about it.

local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---@class xcsh.Foreign
---@field branchId string
---@field entryId string
---@field entries number
---@field program string
---@field prompt string
---@field text string

---Returns the branch of an event or of a snapshot; nil if there is none.
---@param value any
---@return xcsh.Foreign?
function M.of(value)
  value = wire.tbl(value)
  if wire.str(value.branchId) == '' then
    return nil
  end
  return {
    branchId = value.branchId,
    entryId = wire.str(value.entryId),
    entries = wire.num(value.entries),
    program = wire.str(value.program),
    prompt = wire.str(value.prompt),
    text = wire.str(value.text),
  }
end

---Returns the branch in one line.
---@param foreign xcsh.Foreign
function M.line(foreign)
  local program = foreign.program ~= '' and text.one_line(foreign.program, 20) or 'Another program'
  local prompt = foreign.prompt ~= '' and (' (%s)'):format(text.one_line(foreign.prompt, 80)) or ''
  return ('%s continued on another branch%s.'):format(program, prompt)
end

---The branches that were announced, by folder: a growing branch is announced once.
---@type table<string, string>
local announced = {}

---Announces a new branch to a user who does not see the chat.
---@param cwd string
---@param event table
function M.follow(cwd, event)
  local foreign = M.of(event)
  local before = announced[cwd]
  announced[cwd] = foreign and foreign.branchId
  local chat = package.loaded['xcsh.chat']
  if foreign and foreign.branchId ~= before and not (chat and chat.visible(cwd)) then
    view.notify(M.line(foreign) .. ' Decide with :XcshChooseBranch.')
  end
end

---@type { choice: string, does: string }[]
local choices = {
  { choice = 'follow', does = 'Follow: continue on the other branch' },
  { choice = 'stay', does = 'Stay: continue on your branch' },
  { choice = 'fork', does = 'Fork: continue your branch in a new session' },
}

---@param cwd string
---@param foreign xcsh.Foreign
---@param choice string
local function decide(cwd, foreign, choice)
  local args = { cwd = cwd, choice = choice, branchId = foreign.branchId }
  require('xcsh.client').execute('xcsh.chooseBranch', args, function(err, result)
    if err then
      view.error(err)
    elseif wire.str(result.cancelledBy) ~= '' then
      view.notify(('Canceled by %s.'):format(result.cancelledBy), vim.log.levels.WARN)
    end
  end)
end

---Lets the user decide about a branch.
---@param cwd string
---@param foreign? xcsh.Foreign
function M.choose(cwd, foreign)
  if not foreign then
    return view.notify('No other program has continued this session on another branch.')
  end
  vim.ui.select(choices, {
    prompt = M.line(foreign),
    kind = 'xcsh.foreign',
    format_item = function(item)
      return item.does
    end,
  }, function(item)
    if item then
      decide(cwd, foreign, item.choice)
    end
  end)
end

return M
