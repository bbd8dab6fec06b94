-- Sessions of the team store in lists. Their texts were written by other users.

local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

M.pull_first = 'This session is not on this machine. Resume it first.'

---Reports whether a session has no file on this machine.
---@param session table
---@return boolean
function M.is_remote(session)
  return wire.tbl(session.team).remote == true
end

---Returns what selects a session: its path, or its ID in the store, from which it is pulled.
---@param session table
---@return string?
function M.target(session)
  if M.is_remote(session) then
    return wire.str(session.team.sid)
  end
  return session.path
end

---Returns what a line says about a session of the store.
---@param session table
---@return string[]
function M.parts(session)
  local team, parts = wire.tbl(session.team), {}
  if wire.str(team.sid) == '' then
    return parts
  end
  local owner = text.one_line(wire.str(team.owner), 80)
  if owner ~= '' then
    parts[#parts + 1] = 'by ' .. owner
  end
  local writer = session.live ~= true and text.one_line(wire.str(team.writer), 80) or ''
  if writer ~= '' then
    parts[#parts + 1] = 'being written on ' .. writer
  end
  if wire.num(team.unsent) > 0 then
    parts[#parts + 1] = 'not sent yet: ' .. require('xcsh.team').size(team.unsent)
  end
  if wire.num(team.newer) > 0 then
    parts[#parts + 1] = 'newer in the store: ' .. require('xcsh.team').size(team.newer)
  end
  if team.deleted == true then
    parts[#parts + 1] = 'in the trash'
  elseif M.is_remote(session) then
    parts[#parts + 1] = 'not on this machine'
  end
  return parts
end

return M
