-- The state of the team store: for a statusline from the server's events, and as lines from
-- xcsh.team.status. Texts of the store were written by other users and are never trusted.

local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

---The last team_state; nil before the first.
---@type { state: string, unsent: integer }?
local known

---A larger number is shown as this one.
local most = 999999

---Returns a count of the wire as an integer that can be formatted.
---@param value any
---@return integer
function M.count(value)
  local number = wire.num(value)
  return number >= 1 and math.floor(math.min(number, most)) or 0
end

---The states that are shown as they are; no other text of the server gets into a statusline.
---@type table<string, string>
local problems = { offline = 'offline', refused = 'refused' }

---Returns the state for a statusline: "" if nothing is shared, or everything is sent.
---@return string
function M.statusline()
  local parts = {}
  if known and known.state ~= 'off' then
    parts[1] = problems[known.state]
    if known.unsent > 0 then
      parts[#parts + 1] = ('%d unsent'):format(known.unsent)
    end
  end
  return #parts > 0 and 'team: ' .. table.concat(parts, ', ') or ''
end

---Reports whether a store is set up, as far as the server has said so.
---@return boolean
function M.is_on()
  return known ~= nil and known.state ~= 'off'
end

---Handles an event of the server.
---@param params xcsh.Event
function M.follow(params)
  local event = params.event
  if event.type == 'team_state' then
    known = { state = wire.str(event.state), unsent = M.count(event.unsent) }
    vim.cmd.redrawstatus({ bang = true })
  end
end

---Clears the state, because the server has exited.
function M.forget()
  if known then
    known = nil
    vim.cmd.redrawstatus({ bang = true })
  end
end

---The most bytes of a text of the store that are shown on one line.
local max_text, max_name = 400, 80

---@type table<string, string>
local states = {
  off = 'nothing is shared',
  ok = 'connected',
  offline = 'cannot be reached',
  refused = 'access refused',
}

---Returns a size in words.
---@param bytes any
function M.size(bytes)
  local number = math.max(wire.num(bytes), 0)
  if number < 1000 then
    return ('%d bytes'):format(number)
  end
  return number < 1e6 and ('%.0f kB'):format(number / 1e3) or ('%.1f MB'):format(number / 1e6)
end

---Returns a status as lines.
---@param status any xcsh.wire.TeamStatus
---@return string[]
function M.lines(status)
  status = wire.tbl(status)
  local state = wire.str(status.state)
  local rows = {
    { 'State', states[state] or text.one_line(state, max_name) },
    { 'Server', text.one_line(wire.str(status.server), max_text) },
    { 'User', text.one_line(wire.str(status.user), max_name) },
    { 'TLS', text.one_line(wire.str(status.tls), max_name) },
  }
  local unsent = M.count(status.unsentSessions)
  if state ~= 'off' or unsent > 0 then
    local unit = unsent == 1 and 'session' or 'sessions'
    local size = unsent > 0 and (' (%s)'):format(M.size(status.unsentBytes)) or ''
    rows[#rows + 1] = { 'Unsent', ('%d %s%s'):format(unsent, unit, size) }
    rows[#rows + 1] = { 'Since', text.one_line(wire.str(status.since), max_name) }
  end
  rows[#rows + 1] = { 'Problem', text.one_line(wire.str(status.problem), max_text) }
  local lines = {}
  for _, row in ipairs(rows) do
    if row[2] ~= '' then
      lines[#lines + 1] = ('%-8s %s'):format(row[1], row[2])
    end
  end
  return lines
end

return M
