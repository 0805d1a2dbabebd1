# frozen_string_literal: true

# Lists processes of this machine. Works only on Linux.
module Processes
  # Returns the children of a process that run bindq serve.
  def self.children(parent)
    of(parent).select { |pid, state| state != 'Z' && command(pid)[1] == 'serve' }.map(&:first)
  end

  # Returns children named bindq* that have ended and that no process has waited for: ps shows them as
  # <defunct>. They no longer have a command line. Defunct processes with other names come from
  # commands that Puppet runs to collect facts.
  def self.defunct(parent)
    of(parent).select { |_, state, name| state == 'Z' && name.start_with?('bindq') }.map(&:first)
  end

  # Returns the children of a process, with state and program name.
  def self.of(parent)
    Dir['/proc/[0-9]*'].map { |dir| File.basename(dir).to_i }.filter_map do |pid|
      head, _, rest = File.read("/proc/#{pid}/stat").rpartition(') ')
      state, of = rest.split
      [pid, state, head[/\((.*)/m, 1]] if of.to_i == parent
    rescue SystemCallError
      nil # it has ended in the meantime
    end
  end

  def self.command(pid)
    File.read("/proc/#{pid}/cmdline").split("\0")
  rescue SystemCallError
    []
  end
end
