-- The user's decision about the set-up that a folder brings: servers, skills, templates and others.

local client = require('xcsh.client')
local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

local decisions = {
  { title = 'Use', decision = 'all', state = 'trusted' },
  { title = 'Use without servers', decision = 'without-servers', state = 'withoutServers' },
  { title = "Don't use", decision = 'none', state = 'untrusted' },
}

---Returns a part of the set-up on one line: a server with the command that it starts.
---@param part any xcsh.wire.SetupBrought
---@return string
function M.line(part)
  part = wire.tbl(part)
  local starts = wire.str(part.starts)
  local what = starts ~= '' and starts or wire.str(part.path)
  return text.one_line(('%s %s: %s'):format(wire.str(part.kind), wire.str(part.name), what), 400)
end

---Returns the choices: the decisions, and then the parts, whose files can be opened.
---@param result any xcsh.wire.TrustResult
local function choices(result)
  local items = {}
  for _, d in ipairs(decisions) do
    local current = result.state == d.state and ' (current)' or ''
    items[#items + 1] = { title = d.title .. current, decision = d.decision }
  end
  for _, part in ipairs(wire.tbl(result.brings)) do
    items[#items + 1] = { title = '  ' .. M.line(part), path = wire.str(wire.tbl(part).path) }
  end
  return items
end

---:XcshTrust: shows what the folder brings, and asks whether to use it. A decision is recorded
---without a question.
---@param decision string
---@param cwd? string
function M.pick(decision, cwd)
  cwd = cwd or require('xcsh.config').root()
  if decision ~= '' then
    return require('xcsh.commands').run('xcsh.trust', { cwd = cwd, decision = decision })
  end
  local intent = require('xcsh.intent').begin()
  client.execute('xcsh.trust', { cwd = cwd }, function(err, result)
    intent:finish()
    if err then
      return view.error(err)
    elseif #wire.tbl(result.brings) == 0 then
      return view.notify('This folder brings no set-up of its own.')
    end
    intent:show(cwd, 'Trust Set-up', function()
      require('xcsh.pickers.select').choose(choices(result), {
        prompt = 'Use the set-up of this folder?',
        kind = 'xcsh.trust',
        format_item = function(item)
          return item.title
        end,
      }, function(item)
        item = wire.tbl(item)
        if item.decision then
          require('xcsh.commands').run('xcsh.trust', { cwd = cwd, decision = item.decision })
        elseif wire.str(item.path) ~= '' then
          vim.cmd.edit(vim.fn.fnameescape(item.path))
        end
      end)
    end)
  end)
end

---:XcshCommands: lets the user choose a skill, template or slash command, and begins a prompt with
---it.
---@param cwd? string
function M.commands(cwd)
  cwd = cwd or require('xcsh.config').root()
  local intent = require('xcsh.intent').begin()
  client.execute('xcsh.commands', { cwd = cwd }, function(err, result)
    intent:finish()
    if err then
      return view.error(err)
    end
    intent:show(cwd, 'Commands', function()
      local list = require('xcsh.chat.slash').commands_of(result)
      require('xcsh.pickers.select').choose(list, {
        prompt = 'Begin a prompt with',
        kind = 'xcsh.command',
        format_item = function(command)
          local head = '/' .. command.name .. (command.hint ~= '' and ' ' .. command.hint or '')
          return command.description ~= '' and head .. ' · ' .. command.description or head
        end,
      }, function(command)
        if command then
          require('xcsh.chat').open(cwd)
          require('xcsh.chat').edit(cwd, '/' .. command.name .. ' ')
        end
      end)
    end)
  end)
end

return M
