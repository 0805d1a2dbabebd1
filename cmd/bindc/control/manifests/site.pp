# Whatever Puppet looks up, the parameters of classes too, is in the snapshot.
node default {
  notify { "ntp is the package ${lookup('ntp::package')}": }
}
