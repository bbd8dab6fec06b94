-- A user who manages sessions: saves, describes, imports, cleans up.

local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

local first, second = '15d56a686bbe6801', '25d56a686bbe6802'

case(':XcshSave sets a unique title', function()
  local folder = vim.fn.getcwd()
  harness.session(folder, first, 'How do boats float?', 'By displacing water.')
  harness.session(folder, second, 'Why is the sky blue?', 'Rayleigh scattering.')
  vim.cmd('XcshResume ' .. first)
  harness.message('^Resumed ')
  vim.cmd('XcshSave Boats')
  harness.message('^Saved "Boats" to ')
  eq('Boats', harness.execute('xcsh.state').title)
  vim.cmd('XcshResume ' .. second)
  wait('the other session', function()
    return harness.execute('xcsh.state').sessionId == second
  end)
  vim.cmd('XcshSave Boats')
  harness.message('Boats')
  eq('Boats', harness.execute('xcsh.info', { source = first }).title)
  vim.cmd('Xcsh save title=Boats onConflict=suffix')
  harness.message('^Saved "Boats%-2" to ')
end)

case(':XcshDescribe sets the description', function()
  harness.session(vim.fn.getcwd(), first, 'How do boats float?', 'By displacing water.')
  vim.cmd('XcshResume ' .. first)
  harness.message('^Resumed ')
  vim.cmd('XcshDescribe about displacement')
  harness.message('^Description saved%.')
  eq('about displacement', harness.execute('xcsh.info').description)
end)

case(':XcshImport imports each agent-base session once', function()
  local dir = harness.folder('.agent/sessions')
  local source = dir .. '/2026-01-02.json'
  local metadata = { id = '2026-01-02', name = 'Boats', createdAt = '2026-01-02T03:04:05.000Z' }
  local said =
    { role = 'user', content = 'How do boats float?', timestamp = '2026-01-02T03:04:05.000Z' }
  vim.fn.writefile({ vim.json.encode({ metadata = metadata, messages = { said } }) }, source)
  local before = vim.fn.readblob(source)
  vim.cmd('XcshImport ' .. dir)
  harness.message('^Imported: 1%. Already imported: 0%.')
  vim.cmd('XcshImport ' .. dir)
  harness.message('^Imported: 0%. Already imported: 1%.')
  eq(before, vim.fn.readblob(source))
  eq('Boats', harness.execute('xcsh.list').sessions[1].title)
end)

case(':XcshPurge moves nothing without confirmation', function()
  harness.session(vim.fn.getcwd(), first, 'How do boats float?', 'By displacing water.')
  vim.cmd('XcshPurge')
  harness.message('No sessions to clean up')
  vim.cmd('Xcsh purge keep:=0')
  wait('the plan', function()
    return #harness.notified > 1
  end)
  like('No sessions to clean up', harness.notified[#harness.notified].message)
  eq(1, #harness.execute('xcsh.list').sessions)
end)
