-- The list of deleted sessions, from which one is restored or deleted permanently.

local client = require('xcsh.client')
local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

---The number of deleted sessions that are listed.
local most = 1000

---Returns a deleted session as one line.
---@param session xcsh.TrashedSession
---@return string
function M.line(session)
  local parts = { text.one_line(wire.str(session.name), 200) }
  local day, clock = wire.str(session.trashedAt):match('^(%d+%-%d+%-%d+)T(%d+:%d+)')
  if day then
    parts[#parts + 1] = ('deleted %s %s UTC'):format(day, clock)
  end
  local folder = wire.str(session.cwd)
  parts[#parts + 1] = text.one_line(folder ~= '' and folder or wire.str(session.path), 200)
  return table.concat(parts, ' · ')
end

---Lets the user select a deleted session of any folder.
---@param question xcsh.Question
---@param answer xcsh.Answer
function M.choose(question, answer)
  local cwd = question.args.cwd
  local intent = require('xcsh.intent').begin()
  client.execute('xcsh.trash', { cwd = cwd, scope = 'all', limit = most }, function(err, result)
    intent:finish()
    if err then
      return answer(err)
    end
    intent:show(cwd, question.spec.title, function()
      require('xcsh.pickers.select').choose(wire.tbl(result.sessions), {
        prompt = (question.spec.title:gsub('…$', '')),
        kind = 'xcsh.trashed',
        format_item = M.line,
      }, function(session)
        answer(nil, session and session.trashed)
      end)
    end)
  end)
end

return M
